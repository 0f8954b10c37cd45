#include <gather/gather.hpp>

int main() {
  const gather::Options options = gather::Options().profile(gather::Profile::fresh).fresh(4);
  return options.get()->profile == GTH_PROFILE_FRESH && options.get()->fresh == 4 ? 0 : 1;
}
