#if REPRISE_AVFOUNDATION_STAND_IN
    extension Scenario {
        /// Scenarios of our own; those of the shared schema are in `Fixtures`.
        static let own = [
            requests, information, storedBytes, offline, servers, validators, items, playlists,
        ].flatMap(\.self)
    }
#endif
