// Asks a hub which files a repository has.
#pragma once
#include <cstdint>
#include <vector>

#include "store/http_client.h"
#include "store/hub.h"
#include "store/waiter.h"

namespace hwtv::store {

// All pages of the listing.  Errors: those of Patience and parse_listing(); invalid_request where
// there is no such repository.
Result<std::vector<ListedFile>> fetch_listing(HttpClient& client, const HubEndpoint& endpoint,
                                              const HubName& name, int64_t retries, Waiter& waiter);

}  // namespace hwtv::store
