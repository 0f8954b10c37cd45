#include "gather/gather.h"
