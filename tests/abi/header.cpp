#include "gather/gather.hpp"
