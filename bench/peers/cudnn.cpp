#include "bench/peers/cudnn.hpp"

#include "reference/core/error.hpp"

namespace sevenloops::cudnn {

void require(cudnnStatus_t status, const char* doing) {
  if (status != CUDNN_STATUS_SUCCESS) {
    throw Error(std::string("cuDNN failed ") + doing + ": " + cudnnGetErrorString(status));
  }
}

cudnnHandle_t handle(Stream stream) {
  // Never destroyed: at the end of the program the driver may be gone before it.
  static const cudnnHandle_t only = [] {
    cudnnHandle_t created = nullptr;
    require(cudnnCreate(&created), "to start");
    return created;
  }();
  require(cudnnSetStream(only, static_cast<cudaStream_t>(stream)), "to set its stream");
  return only;
}

cudnnDataType_t data_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return CUDNN_DATA_FLOAT;
    case Dtype::f64:
      return CUDNN_DATA_DOUBLE;
    default:
      throw Error("dtype", std::string(name_of(dtype)),
                  "be f32 or f64 for a comparison with cuDNN");
  }
}

cudnnConvolutionMode_t mode_of(ConvMode mode) {
  return mode == ConvMode::convolution ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION;
}

}  // namespace sevenloops::cudnn
