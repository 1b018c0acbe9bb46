#if REPRISE_AVFOUNDATION_STAND_IN
    import Foundation
    import Primitives
    import Reprise
    import Testing
    @testable import RepriseAVPlayer

    extension VirtualClockTests {
        /// A play is the life of an item.
        @Suite struct ItemPlayTests {
            private static func staleServer(version: Int64 = 1) -> ScriptServer {
                var server = ScriptServer()
                server.version = version
                server.etag = "\"v\(version)\""
                server.fields["Cache-Control"] = "max-age=0"
                return server
            }

            private static func play(_ item: String, _ file: ScriptResource, in world: ScriptWorld) async throws {
                try world.makeItem(item, resource: file)
                try await world.playAll(item)
            }

            @Test func aNewItemAsksOnceWhereWhatIsStoredIsStale() async throws {
                let file = try ScriptResource.file(length: 100_000)
                try await ScriptWorld.check([file], servers: [file.name: Self.staleServer()]) { world in
                    try await Self.play("first", file, in: world)
                    for _ in 0..<10 { await world.tick() }
                    try await Self.play("second", file, in: world)
                    let again = try await world.ask("again", "second", 50_000, 1000)
                    #expect(await world.wait { again.isOver })
                    #expect(world.network.state.withLock { $0.exchanges.map(\.method) } == ["GET", "GET"])
                    #expect(world.bytesFetched == file.length, "it was not sent again")
                }
            }

            @Test func aFileThatHasChangedPlaysInTheNextItem() async throws {
                let file = try ScriptResource.file(length: 100_000)
                try await ScriptWorld.check([file], servers: [file.name: Self.staleServer()]) { world in
                    try await Self.play("first", file, in: world)
                    for _ in 0..<10 { await world.tick() }
                    world.setServer(Self.staleServer(version: 2), of: file.name)
                    try world.makeItem("second", resource: file)
                    let all = try await world.ask("all", "second", information: true)
                    #expect(await world.wait { all.isOver })
                    #expect(all.state.withLock { $0.error } == nil)
                    #expect(all.state.withLock { $0.versions } == [2])
                }
            }

            @Test func aNewItemOfAPartlyStoredFileAsksOnceToo() async throws {
                let file = try ScriptResource.file()
                try await ScriptWorld.check([file], servers: [file.name: Self.staleServer()]) { world in
                    try world.makeItem("first", resource: file)
                    let part = try await world.ask("part", "first", 0, 100_000, information: true)
                    #expect(await world.wait { part.isOver })
                    await world.release("first", callbacks: false)
                    for _ in 0..<200 { await world.tick() }
                    let before = world.network.state.withLock { $0.exchanges.count }
                    try world.makeItem("second", resource: file)
                    let again = try await world.ask("again", "second", 0, 50_000, information: true)
                    #expect(await world.wait { again.isOver })
                    #expect(
                        world.network.state.withLock { $0.exchanges.dropFirst(before).map(\.method) } == ["HEAD"])
                }
            }

            @Test(arguments: [0..<50_000, 50_000..<100_000] as [Range<Int64>])
            func aDownloadOfAFileThatHasChangedStaysOne(stored: Range<Int64>) async throws {
                let file = try ScriptResource.file(length: 100_000)
                try await ScriptWorld.check([file], servers: [file.name: Self.staleServer()]) { world in
                    let cache = try world.openCache()
                    try await cache.preload(try world.foundationURL(file), .range(stored)).finished(in: world)
                    let resource = try cache.resource(for: world.url(of: file))
                    try await cache.downloads.add(resource)
                    try await cache.downloads.pause(resource.key)
                    world.setServer(Self.staleServer(version: 2), of: file.name)
                    try world.makeItem("A", resource: file)
                    let all = try await world.ask("all", "A", information: true)
                    #expect(await world.wait { all.isOver })
                    #expect(all.state.withLock { $0.versions } == [2])
                    let keys = await cache.downloads.list().map(\.key)
                    #expect(keys == [resource.key])
                    let retention = try await cache.retention(of: resource)
                    #expect(retention == .download)
                }
            }

            /// Its URL does not say that it is one.
            @Test(arguments: [false, true])
            func aPlaylistThatIsKeptStaysKept(_ isOffline: Bool) async throws {
                let list = ScriptResource.playlist("P", pathExtension: "", length: 2000)
                try await ScriptWorld.check([list]) { world in
                    let cache = try world.openCache()
                    try await cache.preload(try world.foundationURL(list), .all).finished(in: world)
                    let resource = try cache.resource(for: world.url(of: list))
                    try await cache.retain(resource, as: .pinned)
                    world.network.setOffline(isOffline)
                    try world.makeItem("A", resource: list)
                    let all = try await world.ask("all", "A", information: true)
                    #expect(await world.wait { all.isOver })
                    let retention = try await cache.retention(of: resource)
                    #expect(retention == .pinned)
                    let isCached = await resource.isCached
                    #expect(isCached)
                }
            }
        }
    }
#endif
