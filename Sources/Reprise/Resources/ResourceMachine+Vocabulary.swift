import HTTPSemantics

/// The vocabulary of the machine: what it answers to the resource that holds it.
extension ResourceMachine {
    /// What a read does.
    enum Step: Sendable {
        /// Ask the live resource that has the key now.
        case moved
        /// Start at once.
        case use(Generation)
        /// Start at once, and validate it in the background.
        case useAndRevalidate(Generation)
        /// Run this lookup; others wait for it.
        case lead(Lookup, Errand)
        /// Wait for this lookup (a collapsed request, RFC 9111 §4), then ask again.
        case follow(Lookup)
        /// Continue with the variant that the request's fields select.
        case variant(Vary)
        /// Send a request whose response bypasses the store.
        case bypass
        /// Throw this answer of the origin again.
        case refuse(OriginRefusal)
        /// Fail: the origin must not be asked, and something is missing or stale.
        case unavailable
    }

    /// What a lookup is for.
    enum Errand: Sendable {
        /// Nothing usable is known; `replacing` is no longer usable.
        case discover(replacing: Generation?)
        /// The stored response is stale, or the request requires validation.
        case validate(Generation, CacheStatus.ForwardReason)
    }

    /// Where a stored generation is found.
    enum Place: Sendable {
        /// In the live resource that has the key now.
        case moved
        /// Here, if there is one.
        case found(Generation?)
        /// In a variant.
        case variant(Vary)
        /// In what this lookup brings.
        case follow(Lookup)
        /// In the index: load it and finish this lookup.
        case load(Lookup)
    }

    /// What the index has.
    enum Loaded: Sendable {
        case nothing
        case variants(Vary)
        case generation(Generation)
    }

    /// When a resource may be removed from the table.
    enum Detachment: Sendable {
        case always
        /// No reader, fetch or lookup uses it.
        case ifUnused
        /// As ``ifUnused``, and the index has all of it.
        case ifRecorded
    }

    /// The answer to a ``Detachment``.
    enum Departure: Sendable {
        case stays
        /// The generation, if there is one, is used no more.
        case leaves(Generation?)
    }
}
