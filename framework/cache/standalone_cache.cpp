#include "cache/cache_impl.hpp"

#include <kopp/standalone_cache.hpp>

namespace kopp {

void StandaloneCache::Start() { impl_->Start(); }
WriteObserver& StandaloneCache::write_observer() { return *impl_; }
void StandaloneCache::Stop() { impl_->Stop(); }

}  // namespace kopp
