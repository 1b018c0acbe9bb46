#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import ByteRanges
    import Foundation
    import Primitives
    import Reprise
    import RepriseTesting
    import Testing
    @testable import RepriseAVPlayer

    extension VirtualClockTests {
        /// The requirements of the reference articles for a media cache; the table is in docs/apple-platforms.md.
        @Suite struct ParityTests {
            @Test func whatWasPlayedPlaysAgainWithoutANetwork() async throws {
                let file = try ScriptResource.file()
                try await ScriptWorld.check([file]) { world in
                    try world.makeItem("first", resource: file)
                    try await world.playAll("first")
                    world.network.setOffline(true)
                    try world.makeItem("second", resource: file)
                    try await world.playAll("second")
                    #expect(world.bytesFetched == file.length)
                }
            }

            @Test func theLeastRecentlyUsedGoesFirst() async throws {
                let files = try ["A", "B", "C"].map { try ScriptResource.file($0, length: 400_000) }
                try await ScriptWorld.check(files, configure: { $0.limit = 1_000_000 }) { world in
                    // A is the oldest, but B has not been used for longer.
                    for (index, file) in [files[0], files[1], files[0], files[2]].enumerated() {
                        let item = "\(index)"
                        try world.makeItem(item, resource: file)
                        try await world.playAll(item)
                        await world.release(item, callbacks: false)
                        for _ in 0..<300 { await world.tick() }
                    }
                    let cache = try world.openCache()
                    #expect(cache.storedBytes <= 1_000_000)
                    #expect(await cache.isCached(try world.foundationURL(files[0])))
                    #expect(await !cache.isCached(try world.foundationURL(files[1])))
                    #expect(await cache.isCached(try world.foundationURL(files[2])))
                }
            }

            @Test func whatNobodyUsedForLongGoes() async throws {
                let files = try ["A", "B"].map { try ScriptResource.file($0, length: 100_000) }
                try await ScriptWorld.check(files) { world in
                    for file in files {
                        try world.makeItem(file.name, resource: file)
                        try await world.playAll(file.name)
                        await world.release(file.name, callbacks: false)
                        for _ in 0..<1000 { await world.tick() }
                    }
                    let cache = try world.openCache()
                    #expect(try await cache.removeEntries(unusedFor: .seconds(60)) == 0)
                    #expect(try await cache.removeEntries(unusedFor: .seconds(15)) == 100_000)
                    #expect(await !cache.isCached(try world.foundationURL(files[0])))
                    #expect(await cache.isCached(try world.foundationURL(files[1])))
                }
            }

            @Test func nothingIsFetchedThatThePlayerDoesNotAskFor() async throws {
                let file = try ScriptResource.file(length: 8_000_000)
                try await ScriptWorld.check([file]) { world in
                    try world.makeItem("A", resource: file)
                    try await world.ask("probe", "A", 0, 2, information: true)
                    let request = try await world.ask("r", "A", 0)
                    #expect(await world.wait { request.state.withLock { $0.bytes } >= 1_000_000 })
                    await world.cancel(request, callback: true)
                    let taken = request.state.withLock { $0.bytes }
                    for _ in 0..<500 { await world.tick() }
                    // The engine's lead: at least 32 KiB, and a chunk that was on its way.
                    #expect(world.bytesFetched <= taken + 65_536)
                    #expect(world.network.openExchanges == 0)
                }
            }

            @Test func aMissIsProbedWithARangedGETAndAPartlyStoredFileCheckedWithHEAD() async throws {
                let file = try ScriptResource.file()
                try await ScriptWorld.check([file]) { world in
                    try world.makeItem("A", resource: file)
                    let probe = try await world.ask("probe", "A", 0, 2, information: true)
                    #expect(await world.wait { probe.isOver })
                    #expect(world.network.state.withLock { $0.exchanges.map(\.method) } == ["GET"])
                    #expect(world.origin.snapshot[file.path].requests.first?.range == "bytes=0-")
                    await world.release("A", callbacks: false)
                    for _ in 0..<200 { await world.tick() }
                    try world.makeItem("B", resource: file)
                    let again = try await world.ask("again", "B", 0, 2, information: true)
                    #expect(await world.wait { again.isOver })
                    #expect(world.network.state.withLock { $0.exchanges.map(\.method) } == ["GET", "HEAD"])
                }
            }

            @Test func fieldNamesCountInAnyCase() async throws {
                let file = try ScriptResource.file(mime: nil, pathExtension: "")
                var server = ScriptServer()
                server.fields = ["content-TYPE": "audio/mpeg", "accept-ranges": "bytes", "eTaG": "\"lower\""]
                try await ScriptWorld.check([file], servers: ["A": server]) { world in
                    try world.makeItem("A", resource: file)
                    let probe = try await world.ask("probe", "A", 0, 2, information: true)
                    #expect(await world.wait { probe.isOver })
                    #expect(probe.information?.contentType == "public.mp3")
                    #expect(probe.information?.isByteRangeAccessSupported == true)
                }
            }

            @Test func holesAreFetchedAndSpansMerged() async throws {
                let file = try ScriptResource.file()
                try await ScriptWorld.check([file]) { world in
                    try world.makeItem("A", resource: file)
                    for (id, start) in [("a", Int64(200_000)), ("b", 600_000), ("c", 400_000)] {
                        let request = try await world.ask(id, "A", start, 100_000)
                        #expect(await world.wait { request.isOver })
                    }
                    try await world.playAll("A")
                    #expect(world.bytesFetched == file.length)
                    let cache = try world.openCache()
                    let progress = try await cache.resource(for: world.url(of: file)).storedProgress()
                    #expect(Array(progress.ranges) == [0..<file.length])
                }
            }

            @Test func eachAssetHasALoaderOfItsOwnAndAllShareTheFetch() async throws {
                let file = try ScriptResource.file()
                try await ScriptWorld.check([file]) { world in
                    for name in ["A", "B", "C"] { try world.makeItem(name, resource: file) }
                    let loaders = world.state.withLock { state in
                        Set(state.items.values.compactMap { $0.loader.delegate.map { ObjectIdentifier($0) } })
                    }
                    #expect(loaders.count == 3)
                    var requests: [ScriptRequest] = []
                    for name in ["A", "B", "C"] { requests.append(try await world.ask(name, name, information: true)) }
                    #expect(await world.wait { requests.allSatisfy(\.isOver) })
                    #expect(world.bytesFetched == file.length)
                    #expect(world.network.state.withLock { $0.exchanges.count } == 1)
                }
            }

            @Test func signedURLsAreOneEntryAndFileNamesAreHashes() async throws {
                let file = try ScriptResource.file()
                let policy: @Sendable (inout MediaCache.Configuration) -> Void = {
                    $0.keyPolicy = .droppingQueryItems(["Expires", "Signature"])
                }
                try await ScriptWorld.check([file], configure: policy) { world in
                    let cache = try world.openCache()
                    let base = world.url(of: file)
                    let monday = try #require(URL(string: base + "?Expires=1&Signature=a%2Fb"))
                    let friday = try #require(URL(string: base + "?Expires=2&Signature=c%2Bd"))
                    try await cache.preload(monday, .all).finished(in: world)
                    #expect(await cache.isCached(friday))
                    #expect(world.origin.snapshot.requests.map(\.target) == [file.path + "?Expires=1&Signature=a%2Fb"])
                    let names =
                        FileManager.default.enumerator(atPath: world.directory.path)?.compactMap { $0 as? String } ?? []
                    #expect(names.allSatisfy { !$0.contains("A.mp3") && !$0.contains("Signature") })

                    var options = PlaybackOptions()
                    options.cacheKey = CacheKey("song 17")
                    #expect(await !cache.progress(of: friday, options: options).first().isComplete)
                    try await cache.preload(friday, .bytes(1000), options: options).finished(in: world)
                    // The fetch checks for the end of the body once more before it is recorded.
                    for _ in 0..<3 { await world.tick() }
                    let keys = try await cache.entries().map(\.key.text)
                    #expect(keys.contains("song 17"), "\(keys)")
                    try await cache.preload(friday, .all, options: options).finished(in: world)
                    #expect(await cache.isCached(friday, options: options))
                }
            }

            @Test func aKeyClosureMakesOneEntryOfManyURLs() async throws {
                let files = try ["A", "B"].map { try ScriptResource.file($0, length: 100_000) }
                let policy: @Sendable (inout MediaCache.Configuration) -> Void = {
                    $0.keyPolicy = CacheKeyPolicy { url in "song:\(url.lastPathComponent)" }
                }
                try await ScriptWorld.check(files, configure: policy) { world in
                    let cache = try world.openCache()
                    let signed = try #require(URL(string: world.url(of: files[0]) + "?token=1"))
                    let again = try #require(URL(string: world.url(of: files[0]) + "?token=2"))
                    try await cache.preload(signed, .all).finished(in: world)
                    #expect(await cache.isCached(again))
                    #expect(await !cache.isCached(try world.foundationURL(files[1])))
                    try world.makeItem("A", resource: files[0])
                    world.network.setOffline(true)
                    try await world.playAll("A")
                    #expect(try await cache.entries().map(\.key.text) == ["song:A.mp3"])
                }
            }

            /// The plain cache shows that the search would find the bytes.
            @Test(arguments: [true, false]) func anEncryptedCachePlaysOfflineAndShowsNothing(
                isEncrypted: Bool
            ) async throws {
                let file = try ScriptResource.file("Recognisable", length: 300_000)
                let keys = try TemporaryDirectory()
                let key = try keys.write((0..<32).map { UInt8($0) }, to: "key")
                let configure: @Sendable (inout MediaCache.Configuration) -> Void = {
                    if isEncrypted { $0.encryption = CacheEncryption(provider: KeyFile(path: key)) }
                }
                try await ScriptWorld.check([file], configure: configure) { world in
                    try world.makeItem("first", resource: file)
                    try await world.playAll("first")
                    try await world.restart(keepDisk: true)
                    world.network.setOffline(true)
                    try world.makeItem("second", resource: file)
                    try await world.playAll("second")
                    await world.release("second", callbacks: false)
                    #expect(world.bytesFetched == file.length)
                    await world.closeCache()

                    let bytes = file.bytes()
                    let media = stride(from: 0, to: bytes.count - 16, by: 4096).map { Data(bytes[$0..<$0 + 16]) }
                    #expect(try world.isInDirectory(Data("Recognisable".utf8)) == !isEncrypted)
                    for needle in media { #expect(try world.isInDirectory(needle) == !isEncrypted) }
                }
            }

            @Test func exportWritesTheWholeFileAndFetchesWhatIsMissing() async throws {
                let file = try ScriptResource.file(length: 300_000)
                try await ScriptWorld.check([file]) { world in
                    let cache = try world.openCache()
                    let url = try world.foundationURL(file)
                    try await cache.preload(url, .bytes(100_000)).finished(in: world)
                    let target = URL(fileURLWithPath: world.directory.path(of: "export.mp3"))
                    let export = Task {
                        try await cache.export(url, to: target)
                    }
                    let isDone = Mutex(false)
                    let waiter = Task {
                        try await export.value
                        isDone.withLock { $0 = true }
                    }
                    #expect(await world.wait { isDone.withLock { $0 } })
                    try await waiter.value
                    #expect(try Data(contentsOf: target) == Data(file.bytes()))
                    #expect(world.bytesFetched == file.length)
                }
            }

            @Test func whatAWebPageSaysIsNotMedia() async throws {
                let file = try ScriptResource.file(mime: "text/html; charset=utf-8", pathExtension: "", head: "html")
                try await ScriptWorld.check([file]) { world in
                    try world.makeItem("A", resource: file)
                    let probe = try await world.ask("probe", "A", 0, 2, information: true)
                    #expect(await world.wait { probe.isOver })
                    #expect(probe.state.withLock { $0.error?.code } == NSURLErrorBadServerResponse)
                }
            }
        }
    }

    extension PreloadTask {
        /// Waits for the end while the world's time advances.
        func finished(in world: ScriptWorld) async throws {
            let isDone = Mutex(false)
            let waiter = Task {
                defer { isDone.withLock { $0 = true } }
                try await finished()
            }
            #expect(await world.wait { isDone.withLock { $0 } })
            try await waiter.value
        }
    }

    extension ScriptWorld {
        /// Whether a file of the cache contains these bytes or has them in its name.
        fileprivate func isInDirectory(_ bytes: Data) throws -> Bool {
            let names = FileManager.default.enumerator(atPath: directory.path)?.compactMap { $0 as? String } ?? []
            return try names.contains { name in
                var isFolder: ObjCBool = false
                let path = directory.path(of: name)
                guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
                    return false
                }
                let content = try Data(contentsOf: URL(fileURLWithPath: path))
                return content.range(of: bytes) != nil || Data(name.utf8).range(of: bytes) != nil
            }
        }
    }

    extension PlaybackProgress {
        /// The current progress.
        func first() async -> StoredProgress {
            for await progress in self { return progress }
            return StoredProgress()
        }
    }
#endif
