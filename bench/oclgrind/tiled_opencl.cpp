// Runs tiled.cl on the first OpenCL device and prints one JSON line: the seconds of each launch and
// the device that ran it. Meant to be started as `oclgrind ... tiled_opencl <n> <repetitions>`.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reference/core/error.hpp"

namespace {

using sevenloops::Error;

constexpr int kTile = 32;

void check(cl_int code, const char* call) {
  if (code != CL_SUCCESS) throw Error(std::string(call) + " failed with " + std::to_string(code));
}

std::string read_text(const char* path) {
  std::ifstream in(path);
  if (!in) throw Error(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Small integers, so that every order of the sums gives the same bits: those of
/// bench/simt_bench.cpp.
std::vector<float> operand(int n, int seed) {
  std::vector<float> values(static_cast<std::size_t>(n) * n);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(static_cast<int>((i * 7 + seed) % 13) - 6);
  }
  return values;
}

/// Element (row, column) of the product, for a spot check of what the device returned.
float expected(const std::vector<float>& x, const std::vector<float>& w, int n, int row,
               int column) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[row * n + i] * w[i * n + column];
  return sum;
}

nlohmann::json run(int n, int repetitions) {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
  char name[256] = "", version[256] = "";
  clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, nullptr);
  clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof version, version, nullptr);

  cl_int code = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  check(code, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  check(code, "clCreateCommandQueue");

  const std::string source = read_text(SEVENLOOPS_TILED_CL);
  const char* text = source.c_str();
  cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
  check(code, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "matmul_tiled", &code);
  check(code, "clCreateKernel");

  std::vector<float> x = operand(n, 1), w = operand(n, 5), y(x.size());
  const std::size_t bytes = x.size() * sizeof(float);
  cl_mem x_memory = clCreateBuffer(context, CL_MEM_READ_ONLY, bytes, nullptr, &code);
  check(code, "clCreateBuffer");
  cl_mem w_memory = clCreateBuffer(context, CL_MEM_READ_ONLY, bytes, nullptr, &code);
  check(code, "clCreateBuffer");
  cl_mem y_memory = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &code);
  check(code, "clCreateBuffer");
  check(clEnqueueWriteBuffer(queue, x_memory, CL_TRUE, 0, bytes, x.data(), 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
  check(clEnqueueWriteBuffer(queue, w_memory, CL_TRUE, 0, bytes, w.data(), 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
  check(clSetKernelArg(kernel, 0, sizeof x_memory, &x_memory), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof w_memory, &w_memory), "clSetKernelArg");
  check(clSetKernelArg(kernel, 2, sizeof y_memory, &y_memory), "clSetKernelArg");
  check(clSetKernelArg(kernel, 3, sizeof n, &n), "clSetKernelArg");

  // Building is over; only launches are timed, the first (which allocates shadows) left out.
  std::vector<double> seconds;
  const std::size_t global[2] = {static_cast<std::size_t>(n), static_cast<std::size_t>(n)};
  const std::size_t local[2] = {kTile, kTile};
  for (int i = 0; i <= repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    check(clEnqueueNDRangeKernel(queue, kernel, 2, nullptr, global, local, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(clFinish(queue), "clFinish");
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (i > 0) seconds.push_back(elapsed.count());
  }

  check(clEnqueueReadBuffer(queue, y_memory, CL_TRUE, 0, bytes, y.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  for (int i : {0, n / 2, n - 1}) {
    if (y[i * n + (n - 1 - i)] != expected(x, w, n, i, n - 1 - i)) {
      throw Error("the device's product is wrong in row " + std::to_string(i));
    }
  }
  return {{"device", name}, {"driver", version}, {"n", n}, {"seconds", seconds}};
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 0;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 0;
  if (n < kTile || n % kTile != 0 || repetitions < 1) {
    std::cerr << "usage: oclgrind --data-races --uninitialized tiled_opencl <n, a multiple of 32> "
                 "<repetitions, at least 1>\n";
    return 2;
  }
  try {
    std::cout << run(n, repetitions).dump() << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
