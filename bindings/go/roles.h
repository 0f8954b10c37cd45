/* Code generated from gather.h by ./dev generate. DO NOT EDIT. */
#ifndef GATHER_GO_ROLES_H
#define GATHER_GO_ROLES_H

#include <gather/gather.h>

/* The operands of a request. */
#define GATHER_GO_ROLES(ROLE) ROLE(table) ROLE(indices) ROLE(rows) ROLE(bags) ROLE(weights)

#endif
