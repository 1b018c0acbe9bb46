import RepriseProxy

/// What a client of the control socket may have done to the cache.
enum ControlOperations {
    /// All of them; each has a name of its own.
    static let all: [any ControlOperation.Type] = [
        RemoveOperation.self, PinOperation.self, UnpinOperation.self, PruneOperation.self, TitleOperation.self,
        DownloadsOperation.self, LimitOperation.self, VerifyOperation.self, FlushOperation.self,
        FetchOperation.self, DownloadOperation.self, ContinueOperation.self, RemarksOperation.self,
    ]
}
