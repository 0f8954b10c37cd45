#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <string>
#include <typeinfo>
#include <vector>

#include "../emulation/machine.hpp"
#include "run.hpp"

// Launches of kernels as nvcc compiled them, by their names in C++.
namespace ptx {

template <class T>
std::string name_of() {
  char* name = abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, nullptr);
  const std::string result = name;
  std::free(name);
  return result;
}

// Returns a name like "gather::cuda::(anonymous namespace)::lift_kernel(gather::cuda::Keys, unsigned int)".
template <class... Arguments>
std::string kernel_name(const std::string& kernel) {
  std::string list;
  ((list += (list.empty() ? "" : ", ") + name_of<Arguments>()), ...);
  return "gather::cuda::(anonymous namespace)::" + kernel + "(" + list + ")";
}

// Returns the same for a template, like "void ..copy_kernel<4>(..)". The last of `parameters` may be a type.
template <class... Arguments>
std::string template_name(const std::string& kernel, const std::string& parameters) {
  const char* const end = parameters.back() == '>' ? " >" : ">";
  return "void " + kernel_name<Arguments...>(kernel + "<" + parameters + end);
}

template <class Argument>
void append(std::vector<char>* to, const Argument& argument) {
  to->resize((to->size() + alignof(Argument) - 1) / alignof(Argument) * alignof(Argument));
  const char* begin = reinterpret_cast<const char*>(&argument);
  to->insert(to->end(), begin, begin + sizeof argument);
}

template <class... Arguments>
int launch(const std::string& name, uint32_t blocks, uint32_t threads, bool overlaps, CUstream_st* stream,
           const Arguments&... given) {
  if (const int code = emulation::enter_call()) return code;
  const Run run = find_kernel(name);
  if (!run) {
    emulation::count_violation(name.c_str());
    std::abort();
  }
  std::vector<char> arguments;
  (append(&arguments, given), ...);
  return emulation::enqueue(
      stream,
      [=] {
        emulation::count_launch();
        run_grid(run, blocks, threads, arguments);
      },
      overlaps);
}

}  // namespace ptx
