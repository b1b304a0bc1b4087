// The peer that somad stands beside: gRPC C++, unary calls over a counter that only goes up, so
// that what it costs is what gRPC costs.
//   peer serve ADDRESS                      prints where it serves, until it is ended
//   peer drive ADDRESS CONNECTIONS SECONDS  prints "pairs N seconds S"
#include <grpcpp/grpcpp.h>

#include "pool.grpc.pb.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace
{

using soma::bench::FreeAsyncReply;
using soma::bench::FreeAsyncRequest;
using soma::bench::MallocAsyncReply;
using soma::bench::MallocAsyncRequest;
using soma::bench::PoolService;

constexpr uint64_t kBase = 0x12c0c0000000;
constexpr uint64_t kGranule = 2u << 20;

class CounterService final : public PoolService::Service
{
  public:
    grpc::Status MallocAsync(grpc::ServerContext *, const MallocAsyncRequest *request,
                             MallocAsyncReply *reply) override
    {
        uint64_t granules = (request->size_bytes() + kGranule - 1) / kGranule;
        reply->set_address(next_.fetch_add(granules * kGranule, std::memory_order_relaxed));
        return grpc::Status::OK;
    }

    grpc::Status FreeAsync(grpc::ServerContext *, const FreeAsyncRequest *request,
                           FreeAsyncReply *) override
    {
        if (request->address() >= kBase)
            return grpc::Status::OK;
        return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no such address");
    }

  private:
    std::atomic<uint64_t> next_{kBase};
};

int Serve(const char *address)
{
    CounterService service;
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service);
    std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
    if (server == nullptr)
        return 1;
    std::printf("127.0.0.1:%d\n", port);
    std::fflush(stdout);
    server->Wait();
    return 0;
}

// One connection, one thread: a pair at a time.
class Caller
{
  public:
    explicit Caller(const std::string &address)
    {
        grpc::ChannelArguments arguments;
        // Channels to one address would share a connection.
        arguments.SetInt("grpc.use_local_subchannel_pool", 1);
        stub_ = PoolService::NewStub(
            grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
    }

    bool Pair()
    {
        grpc::ClientContext malloc_context, free_context;
        MallocAsyncRequest wanted;
        MallocAsyncReply block;
        wanted.set_pool(1);
        wanted.set_stream(1);
        wanted.set_size_bytes(4096);
        if (!stub_->MallocAsync(&malloc_context, wanted, &block).ok() || block.address() < kBase)
            return false;
        FreeAsyncRequest given;
        FreeAsyncReply done;
        given.set_address(block.address());
        given.set_stream(1);
        return stub_->FreeAsync(&free_context, given, &done).ok();
    }

  private:
    std::unique_ptr<PoolService::Stub> stub_;
};

int Drive(const char *address, int connections, double seconds)
{
    using Clock = std::chrono::steady_clock;
    std::vector<std::unique_ptr<Caller>> callers;
    std::vector<std::thread> threads;
    std::atomic<uint64_t> pairs{0};
    std::atomic<bool> failed{false};
    for (int i = 0; i < connections; i++) {
        callers.push_back(std::make_unique<Caller>(address));
        if (!callers.back()->Pair()) // connected from here on
            return 1;
    }
    Clock::time_point start = Clock::now();
    Clock::time_point until =
        start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    for (const std::unique_ptr<Caller> &caller : callers)
        threads.emplace_back([&caller, &pairs, &failed, until] {
            uint64_t mine = 0;
            while (!failed && Clock::now() < until) {
                if (!caller->Pair())
                    failed = true;
                mine++;
            }
            pairs += mine;
        });
    for (std::thread &thread : threads)
        thread.join();
    std::chrono::duration<double> elapsed = Clock::now() - start;
    std::printf("pairs %llu seconds %.6f\n", static_cast<unsigned long long>(pairs.load()),
                elapsed.count());
    return failed ? 1 : 0;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 3 && std::strcmp(argv[1], "serve") == 0)
        return Serve(argv[2]);
    if (argc == 5 && std::strcmp(argv[1], "drive") == 0)
        return Drive(argv[2], static_cast<int>(std::strtol(argv[3], nullptr, 10)),
                     std::strtod(argv[4], nullptr));
    std::fprintf(stderr, "usage: peer serve ADDRESS | peer drive ADDRESS CONNECTIONS SECONDS\n");
    return 2;
}
