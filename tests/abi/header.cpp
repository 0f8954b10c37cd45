#include "gather/gather.hpp"
#include "gather/gather.hpp"
