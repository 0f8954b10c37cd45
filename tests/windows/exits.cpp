// Starts itself again and again. Each child loads the library, makes calls with several threads, and ends in one of
// several ways. A child that does not end is a failure.
#include <gather/gather.h>
#include <windows.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

enum End { returns, unloads, during_a_call, ends };

constexpr int64_t row_count = 1 << 12, row_bytes = 256;  // A call of 1 MB uses threads.
constexpr DWORD longest = 60000;                         // the milliseconds until a child has failed

char table[row_count * row_bytes], rows[row_count * row_bytes];
decltype(&gth_gather) gather = nullptr;

void require(bool condition, const char* text) {
  if (condition) return;
  std::fprintf(stderr, "not true: %s\n", text);
  std::exit(1);
}

void call() {
  static const int32_t ids[row_count] = {};
  const int64_t shape[] = {row_count, row_bytes};
  const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT8, 2, shape, table);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT32, 1, shape, ids);
  const gth_tensor_desc out = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT8, 2, shape, rows);
  gth_options options = GTH_OPTIONS_INIT;
  options.threads = 4;
  require(gather(nullptr, &params, &indices, &out, &options, nullptr) == GTH_OK, "the call returns GTH_OK");
}

DWORD WINAPI call_forever(void*) {
  for (;;) call();
}

// A thread that runs code of an unloaded library makes the process fail at once, without a debugger.
LONG WINAPI fail(EXCEPTION_POINTERS*) {
  TerminateProcess(GetCurrentProcess(), 1);
  return EXCEPTION_EXECUTE_HANDLER;
}

int child(int end) {
  SetUnhandledExceptionFilter(fail);
  const HMODULE library = LoadLibraryA("libgather.dll");
  require(library, "the library is loaded");
  gather = reinterpret_cast<decltype(gather)>(reinterpret_cast<void (*)()>(GetProcAddress(library, "gth_gather")));
  require(gather, "the library has gth_gather");
  call();
  if (end == returns) return 0;
  if (end == unloads) require(FreeLibrary(library), "the library is unloaded");
  if (end == during_a_call) require(CreateThread(nullptr, 0, call_forever, nullptr, 0, nullptr), "a thread starts");
  Sleep(20);
  return 0;
}

void run(const char* program, int end) {
  std::string command = '"' + std::string(program) + "\" " + std::to_string(end);
  STARTUPINFOA startup{};
  startup.cb = sizeof startup;
  PROCESS_INFORMATION process;
  DWORD code = 1;
  require(CreateProcessA(program, command.data(), nullptr, nullptr, FALSE, 0, nullptr, nullptr, &startup, &process),
          "a child starts");
  require(WaitForSingleObject(process.hProcess, longest) == WAIT_OBJECT_0, "the child ends");
  require(GetExitCodeProcess(process.hProcess, &code) && code == 0, "the child succeeds");
  CloseHandle(process.hThread);
  CloseHandle(process.hProcess);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return child(std::atoi(argv[1]));
  const char* wanted = std::getenv("GATHER_EXITS");
  const int count = wanted ? std::atoi(wanted) : 30;
  char program[MAX_PATH];
  require(GetModuleFileNameA(nullptr, program, sizeof program) > 0, "the program has a name");
  for (int i = 0; i < count; ++i) run(program, i % ends);
  std::printf("%d processes ended\n", count);
}
