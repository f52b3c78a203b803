#include "fault_wrap.h"

#include <cuda_runtime.h>
#include <cxxabi.h>

#include <map>
#include <set>
#include <string>

namespace
{
enum Mode { NONE, REFUSE, POISON };
Mode mode;
size_t calls, target;
bool hit, was_launch, fill, inside, launches;
std::string place, poisoned;

/* Built before main by constructors of other units, so they must be made at first use. */
std::map<const void *, std::string> &host_names()
{
    static std::map<const void *, std::string> m;
    return m;
}
std::map<cudaKernel_t, std::string> &handle_names()
{
    static std::map<cudaKernel_t, std::string> m;
    return m;
}
std::map<std::string, bool> &kernels()
{
    static std::map<std::string, bool> m;
    return m;
}

/* "void (anonymous)::normalize<Fe<Bn254Fq> >(...)" -> "normalize" */
std::string plain_name(const char *mangled)
{
    int status;
    char *text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    std::string s = text ? text : mangled;
    free(text);
    size_t end = s.find_first_of("<(");
    while (end != std::string::npos && s.compare(end, 11, "(anonymous ") == 0)
        end = s.find_first_of("<(", end + 11);
    s = s.substr(0, end);
    size_t from = s.find_last_of(" :");
    return from == std::string::npos ? s : s.substr(from + 1);
}

bool count_call(const char *name, bool launch = false)
{
    if (inside || mode != REFUSE || (launches && !launch) || ++calls != target)
        return false;
    hit = true;
    was_launch = launch;
    place = name;
    return true;
}

__global__ void out_of_bounds(int *p)
{
    *p = 1;
}
} // namespace

extern "C" {
void fault_refuse(size_t k, bool launches_only)
{
    mode = REFUSE;
    launches = launches_only;
    calls = 0;
    target = k;
    hit = false;
}
void fault_poison(const char *kernel)
{
    mode = POISON;
    poisoned = kernel;
    hit = false;
}
void fault_none(void)
{
    mode = NONE;
}
size_t fault_calls(void)
{
    return calls;
}
bool fault_hit(void)
{
    return hit;
}
const char *fault_place(void)
{
    return place.c_str();
}
bool fault_was_launch(void)
{
    return was_launch;
}
void fault_fill_allocations(bool on)
{
    fill = on;
}
size_t fault_kernels(void)
{
    return kernels().size();
}
const char *fault_kernel_name(size_t i)
{
    auto it = kernels().begin();
    std::advance(it, i);
    return it->first.c_str();
}
bool fault_kernel_launched(size_t i)
{
    auto it = kernels().begin();
    std::advance(it, i);
    return it->second;
}

/* ---- launches ---- */

void __real___cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *,
                                   int *);
void __wrap___cudaRegisterFunction(void **binary, const char *host, char *device, const char *name, int limit,
                                   uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp)
{
    std::string plain = plain_name(name);
    host_names()[host] = plain;
    if (plain != "out_of_bounds")
        kernels()[plain] = false;
    __real___cudaRegisterFunction(binary, host, device, name, limit, tid, bid, block, grid, warp);
}

cudaError_t __real___cudaGetKernel(cudaKernel_t *, const void *);
cudaError_t __wrap___cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    cudaError_t rc = __real___cudaGetKernel(kernel, host);
    if (rc == cudaSuccess)
        handle_names()[*kernel] = host_names()[host];
    return rc;
}

cudaError_t __real___cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
                                      cudaStream_t on)
{
    const std::string &name = handle_names()[kernel];
    if (!inside)
        kernels()[name] = true;
    if (count_call(name.c_str(), true)) {
        block = dim3(4096);
    } else if (mode == POISON && !inside && !hit && name == poisoned) {
        hit = inside = true;
        out_of_bounds<<<1, 1, 0, on>>>((int *)16);
        inside = false;
    }
    return __real___cudaLaunchKernel(kernel, grid, block, args, shared, on);
}

/* ---- everything else ---- */

#define WRAP(name, params, given, refused)                                                                             \
    cudaError_t __real_##name params;                                                                                  \
    cudaError_t __wrap_##name params                                                                                   \
    {                                                                                                                  \
        return count_call(#name) ? refused : __real_##name given;                                                      \
    }

cudaError_t __real_cudaMalloc(void **p, size_t bytes);
cudaError_t __wrap_cudaMalloc(void **p, size_t bytes)
{
    bool refuse = count_call("cudaMalloc");
    cudaError_t rc = __real_cudaMalloc(p, refuse ? (size_t)1 << 60 : bytes);
    if (!rc && fill)
        cudaMemset(*p, 0xa5, bytes);
    return rc;
}

WRAP(cudaHostAlloc, (void **p, size_t bytes, unsigned flags), (p, bytes, flags),
     __real_cudaHostAlloc(p, (size_t)1 << 60, flags))
WRAP(cudaHostRegister, (void *p, size_t bytes, unsigned flags), (p, bytes, flags), __real_cudaHostRegister(p, 0, flags))
WRAP(cudaMemcpyAsync, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t on),
     (to, from, bytes, kind, on), __real_cudaMemcpyAsync(to, from, bytes, (enum cudaMemcpyKind)99, on))
WRAP(cudaMemsetAsync, (void *p, int value, size_t bytes, cudaStream_t on), (p, value, bytes, on),
     __real_cudaMemsetAsync(nullptr, value, 64, on))
WRAP(cudaStreamCreateWithFlags, (cudaStream_t * s, unsigned flags), (s, flags),
     __real_cudaStreamCreateWithFlags(s, 0x7000))
WRAP(cudaEventCreateWithFlags, (cudaEvent_t * e, unsigned flags), (e, flags),
     __real_cudaEventCreateWithFlags(e, 0x7000))
WRAP(cudaEventCreate, (cudaEvent_t * e), (e), __real_cudaEventCreateWithFlags(e, 0x7000))
WRAP(cudaEventRecord, (cudaEvent_t e, cudaStream_t on), (e, on), __real_cudaEventRecord(nullptr, on))
WRAP(cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t e, unsigned flags), (s, e, flags),
     __real_cudaStreamWaitEvent(s, nullptr, flags))
WRAP(cudaMemGetInfo, (size_t * room, size_t *total), (room, total), cudaErrorUnknown)
/* what these wait for did happen, only the answer is bad */
WRAP(cudaStreamSynchronize, (cudaStream_t s), (s), (__real_cudaStreamSynchronize(s), cudaErrorUnknown))
WRAP(cudaEventSynchronize, (cudaEvent_t e), (e), (__real_cudaEventSynchronize(e), cudaErrorUnknown))
WRAP(cudaFuncSetAttribute, (const void *f, enum cudaFuncAttribute a, int value), (f, a, value),
     __real_cudaFuncSetAttribute(f, (enum cudaFuncAttribute)99, value))
}
