import HTTPSemantics
import HTTPTypes
import Primitives

/// Turns a response that has arrived into a generation, or into a read that bypasses the store.
struct Adoption: Sendable {
    /// The resource that was asked for.
    let resource: LiveResource
    let wanted: ReadRequest
    let judged: OriginAnswer
    /// The generation that the response replaces.
    let replaced: Generation?

    private var engine: Engine { resource.engine }

    /// Makes a generation of the response, if it may be stored, and begins to read it.
    func run() async throws -> MediaRead {
        guard case .newGeneration(let placement, _) = judged.action, let store = engine.store,
            isExpected(at: placement), await admits(placement.completeLength, to: store), isWanted(in: store)
        else {
            if case .passThrough(let reason) = judged.action { await noteUnstored(reason) }
            return try bypass()
        }
        if let replaced, isOutside(replaced, at: placement) { return try bypass() }
        replaced?.note(SplicingEvidence.Sighting(judged.response, placement))
        let home = try Variants(of: resource).home(
            of: resource, by: Vary(judged.response.head.headerFields), for: wanted.origin)
        let generation: Generation
        do throws(RepriseError) {
            generation = try await GenerationLoader(resource: home, store: store)
                .begin(judged, at: placement, for: wanted, replacing: replaced)
        } catch {
            // Such as an inode that is missing, or a quota: bytes may be free all the same.
            engine.reporter.tell(
                .storeBypassed(resource.key, reason: error.explanation), because: error.isLackOfRoom ? .room : .disk)
            return try bypass()
        }
        if let replaced {
            let former = home === resource ? await replaced.former() : nil
            // A kept file must survive if the new response breaks off.
            if let former { generation.replaceWhenWhole(former) }
            if former === replaced {
                replaced.markRemoved(because: .replaced)
            } else {
                await resource.retire(replaced, from: store)
            }
        }
        if home !== resource, let live = home.liveGeneration, live !== replaced {
            await home.retire(live, from: store)
        }
        guard home.handle({ $0.adopted(generation) }) else {
            // Removed while the origin was asked: the response belongs to no entry.
            await DiskQueue.shared.run {
                _ = store.removeFile(name: store.index.name(of: home.key), generation: generation.id)
            }
            return try bypass()
        }
        guard isWanted(in: store) else {
            // The title was removed after the first check, and the removal may have missed this generation.
            home.forget(generation)
            return try bypass()
        }
        let opened = generation.adopt(
            judged, at: placement, spec: spec(in: placement), request: wanted.origin,
            interest: judged.interest ?? wanted.interest)
        store.recorder.noteUse(home.key)
        guard let opened else { throw ReadExtent.notSatisfiable(placement.completeLength ?? 0) }
        let how = Confirmation(
            reason: replaced == nil ? resource.primary == nil ? .uriMiss : .varyMiss : .stale,
            status: judged.response.head.status.code)
        return MediaRead(opened, how: how, generation: generation, resource: home, wanted: wanted)
    }

    /// Whether a title still stands for which it is stored, if it is stored for one.
    private func isWanted(in store: Store) -> Bool {
        let claims = wanted.claims
        return claims.isEmpty || !store.recorder.standing(claims).isEmpty
    }

    private func bypass() throws -> MediaRead {
        try MediaRead(judged, resource: resource, wanted: wanted)
    }

    /// Whether the response has the expected content.
    private func isExpected(at placement: BodyPlacement) -> Bool {
        guard wanted.content != nil else { return true }
        let information = ContentInformation(
            response: judged.response.head, completeLength: placement.completeLength,
            rangesSupported: placement.rangesSupported)
        return engine.objection(to: information, as: wanted.content, at: wanted.origin.url) == nil
    }

    /// Whether a representation of `length` bytes is stored; reports why if it isn't.
    private func admits(_ length: Int64?, to store: Store) async -> Bool {
        if store.leftovers.takeUnopened(resource.key) {
            // Bypass the store, or the record that was kept would be replaced; the next read tries the file again.
            resource.handle { $0.openingFailed() }
            return false
        }
        let reason = await DiskQueue.shared.run { [self] in
            let obstacle =
                wanted.storesOnlyWhole ? store.obstacle(toStoring: length) ?? tagObstacle(to: length, in: store) : nil
            return store.refusal(of: length) ?? obstacle?.description
        }
        guard let reason else { return true }
        let isFault = store.breaker.reason == reason && !store.breaker.isFull
        engine.reporter.tell(.storeBypassed(resource.key, reason: reason), because: isFault ? .disk : .room)
        return false
    }

    /// Why a download of `length` bytes would exceed the limit of its title's tag.
    private func tagObstacle(to length: Int64?, in store: Store) -> StorageObstacle? {
        guard let length, wanted.origin.demand == .download else { return nil }
        let title = wanted.titles.first?.key ?? resource.key
        do throws(RepriseError) {
            // To sum all files of a tag takes as long as there are many of them.
            let tags = try store.index.titles.limitedTags(ofFile: title)
            guard !tags.allSatisfy({ store.tagKeeper.hasRoom(for: length, tag: $0) }) else { return nil }
            try store.index.titles.checkRoom(for: length, inTitleOf: title)
            return nil
        } catch {
            return error.obstacle
        }
    }

    /// Notes that the response must not be stored: for a while further requests bypass the store, and stored bytes are
    /// removed.
    ///
    /// Does nothing if the request's own fields forbid storing, which is not a property of the resource, or if others
    /// are reading an in-flight response, which must not be broken off.
    private func noteUnstored(_ reason: PassThroughReason) async {
        let isOwn =
            switch reason {
            case .unkeyedFields, .authorization, .contradictoryRange: true
            case .noStore: wanted.directives.noStore && !CacheControl(judged.response.head.headerFields).noStore
            default: false
            }
        guard !isOwn, replaced?.isBeingFilled != true else { return }
        if let replaced {
            if reason.isOfNoVersion || reason == .live { return replaced.expire() }
            if await Replacement(generation: replaced).isKept { return replaced.expire() }
        }
        let moment = engine.clock.moment
        resource.handle { $0.storingForbidden(at: moment) }
        if let replaced, let store = engine.store { await resource.retire(replaced, from: store) }
    }

    /// Whether the response must leave `generation` alone: others are reading an in-flight response, and nothing shows
    /// that this one has another representation or the same one (RFC 9110 §15.3.7.3).
    ///
    /// Such a response bypasses the store; replacing the generation would break off the other readers.
    private func isOutside(_ generation: Generation, at placement: BodyPlacement) -> Bool {
        let response = judged.response
        let current = GenerationIdentity(
            validators: Validators(response.head.headerFields), completeLength: placement.completeLength,
            mediaType: response.head.headerFields[.contentType], finalHost: response.url.authority)
        let change = generation.record.identity.change(to: current, policy: .strict)
        return generation.isBeingFilled && (change == nil || change == .noStrongValidator)
    }

    /// The range to read from the response: the requested one, or all of a part that begins elsewhere.
    private func spec(in placement: BodyPlacement) -> RangeSpec? {
        guard let range = wanted.range, placement.start > 0 || placement.end != placement.completeLength,
            let end = placement.end,
            let extent = ReadExtent(range, completeLength: placement.completeLength)
        else { return wanted.range }
        let part = placement.start..<end
        return part.contains(extent.start) ? range : .bounded(part)
    }
}
