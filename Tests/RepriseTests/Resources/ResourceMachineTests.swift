import HTTPSemantics
import HTTPTypes
import Testing

@testable import Reprise

/// The machine alone, row by row of the table in docs/how-a-read-works.md: call, expected step, next call.
@Suite struct ResourceMachineTests {
    /// A generation that says what the test wants.
    private final class Fake: CurrentGeneration {
        let isFrozen: Bool
        let isIdle: Bool
        let hasUnrecorded: Bool
        private let answer: Reuse
        private let isHole: Bool
        private let isWhole: Bool
        private let isShort: Bool
        private let isOld: Bool
        private let asks: Bool

        init(
            _ answer: Reuse = .serve, isFrozen: Bool = false, isHole: Bool = false, isWhole: Bool = true,
            isShort: Bool = false, isIdle: Bool = true, hasUnrecorded: Bool = false, isSuperseded: Bool = false,
            asks: Bool = false
        ) {
            self.answer = answer
            self.isFrozen = isFrozen
            self.isHole = isHole
            self.isWhole = isWhole
            self.isShort = isShort
            self.isIdle = isIdle
            self.hasUnrecorded = hasUnrecorded
            isOld = isSuperseded
            self.asks = asks
        }

        func reuse(for directives: CacheControl, in play: Play?) -> Reuse {
            play == Self.later ? .validate(.stale) : answer
        }
        func isSuperseded(in play: Play?) -> Bool { isOld && play != Self.later }

        /// A play that began after the origin was asked last.
        static let later = Play(began: .seconds(1_000_000))
        func beginsInHole(_ range: RangeSpec?) -> Bool { isHole }
        func hasBeginning(of range: RangeSpec?) -> Bool { !isHole }
        func isStored(_ range: RangeSpec?) -> Bool { isWhole }
        func isOutside(_ range: RangeSpec?) -> Bool { isShort }
        func mustAsk(about range: RangeSpec?) -> Bool { asks }
    }

    private typealias Machine = ResourceMachine<Fake>

    private static let film = "http://origin/film.mp4"
    private static let start = Moment(date: 1_800_000_000, elapsed: .seconds(100))

    private static func later(_ seconds: Int64) -> Moment {
        Moment(date: start.date + seconds, elapsed: start.elapsed + .seconds(seconds))
    }

    private static func wanted(
        _ fields: HTTPFields = [:], directives: String? = nil
    ) throws -> ReadRequest {
        let control = CacheControl(directives.map { [.cacheControl: $0] } ?? [:])
        return ReadRequest(
            range: .bounded(0..<100), origin: OriginRequest(url: try ResourceURL(film), fields: fields),
            directives: control)
    }

    private static func machine(_ change: (inout ReusePolicy) -> Void = { _ in }) -> Machine {
        var policy = ReusePolicy()
        change(&policy)
        return Machine(policy: policy)
    }

    private static func machine(
        with generation: Fake, _ change: (inout ReusePolicy) -> Void = { _ in }
    ) -> Machine {
        var machine = machine(change)
        machine.loaded(.generation(generation))
        return machine
    }

    /// The step in words, for a read that nothing is special about.
    private func open(
        _ machine: inout Machine, _ wanted: ReadRequest? = nil, unusable: Fake? = nil, confirmed: Fake? = nil,
        at moment: Moment = start
    ) throws -> String {
        let wanted = try wanted ?? Self.wanted()
        return switch machine.open(wanted, unusable: unusable, confirmed: confirmed, at: moment) {
        case .moved: "moved"
        case .use: "use"
        case .useAndRevalidate: "use and revalidate"
        case .lead(_, .discover(nil)): "discover"
        case .lead(_, .discover): "replace"
        case .lead(_, .validate(_, let reason)): "validate: \(reason)"
        case .follow: "follow"
        case .variant: "variant"
        case .bypass: "bypass"
        case .refuse(let refusal): "refuse \(refusal.head.status.code)"
        case .unavailable: "unavailable"
        }
    }

    private func find(_ machine: inout Machine) throws -> String {
        switch machine.find(for: try Self.wanted().origin) {
        case .moved: "moved"
        case .found(let generation): generation == nil ? "nothing" : "found"
        case .variant: "variant"
        case .follow: "follow"
        case .load: "load"
        }
    }

    private static func refusal(_ status: Int, _ fields: HTTPFields = [:], at moment: Moment) throws -> CachedRefusal {
        let refusal = OriginRefusal(
            head: HTTPResponse(status: .init(code: status), headerFields: fields), body: [], age: nil)
        return try #require(
            CachedRefusal(
                refusal, to: try wanted().origin, after: nil, requestTime: moment.date, at: moment,
                storage: StoragePolicy(honorsNoStore: true), policy: ReusePolicy()))
    }

    // MARK: - What is known, what a read does

    @Test(arguments: [Reuse.serve, .serveStale]) func whatMayBeUsedStartsAtOnce(answer: Reuse) throws {
        var machine = Self.machine(with: Fake(answer))
        #expect(try open(&machine) == "use")
        #expect(try open(&machine) == "use")
    }

    @Test("what only the origin can answer is asked, though the response may be used, or a hole would be asked for")
    func endIsAskedAbout() throws {
        for generation in [Fake(.serve, asks: true), Fake(.validate(.stale), isHole: true, asks: true)] {
            var machine = Self.machine(with: generation)
            #expect(try open(&machine) == "validate: stale")
            machine.lookupEnded()
            #expect(try open(&machine, confirmed: generation) == "use")
        }
    }

    @Test("a stale response is validated first (RFC 9111 §4.3)") func staleIsValidatedFirst() throws {
        let generation = Fake(.validate(.stale))
        var machine = Self.machine(with: generation)
        #expect(try open(&machine) == "validate: stale")
        #expect(try open(&machine) == "follow")
        machine.lookupEnded()
        #expect(try open(&machine, confirmed: generation) == "use")
        #expect(try open(&machine) == "validate: stale", "another read has to ask again")
    }

    @Test("the request for a hole at the first byte validates as well (RFC 9110 §13.1.5)")
    func aHoleValidates() throws {
        var machine = Self.machine(with: Fake(.validate(.stale), isHole: true))
        #expect(try open(&machine) == "use")
    }

    @Test("within stale-while-revalidate one read validates in the background (RFC 5861 §3)")
    func oneReadRevalidates() throws {
        var machine = Self.machine(with: Fake(.serveAndRevalidate))
        #expect(try open(&machine) == "use and revalidate")
        #expect(try open(&machine) == "use")
        machine.revalidationEnded()
        #expect(try open(&machine) == "use and revalidate")
    }

    @Test func whatIsStoredOfASupersededResponseStaysInPlay() throws {
        let superseded = Fake(.validate(.stale), isFrozen: true, isSuperseded: true)
        var machine = Self.machine(with: superseded)
        #expect(try open(&machine) == "use")
        #expect(try open(&machine, unusable: superseded) == "replace")
        machine = Self.machine(with: Fake(.validate(.stale), isFrozen: true, isWhole: false, isSuperseded: true))
        #expect(try open(&machine) == "replace", "a byte is missing")
        machine.lookupEnded()
        #expect(try find(&machine) == "found")
    }

    @Test func anotherPlayAsksWhereThisOneDoesNot() throws {
        var wanted = try Self.wanted()
        wanted.play = Fake.later
        var machine = Self.machine(with: Fake())
        #expect(try open(&machine) == "use")
        #expect(try open(&machine, wanted) == "validate: stale")
        machine = Self.machine(with: Fake(.validate(.stale), isFrozen: true, isSuperseded: true))
        #expect(try open(&machine) == "use")
        #expect(try open(&machine, wanted) == "replace")
    }

    @Test func aReadThatMayUseNoNetworkHasStoredBytesOnly() throws {
        var wanted = try Self.wanted()
        wanted.origin.networkPolicy = .never
        var machine = Self.machine(with: Fake(.validate(.stale)))
        #expect(try open(&machine, wanted) == "use", "however stale")
        machine = Self.machine(with: Fake(isWhole: false))
        #expect(try open(&machine, wanted) == "unavailable")
    }

    @Test("responses that vary belong to variants (RFC 9111 §4.1)") func variantsAnswer() throws {
        var machine = Self.machine()
        machine.loaded(.variants(Vary(names: ["accept"])))
        #expect(try open(&machine) == "variant")
        #expect(try find(&machine) == "variant")
        #expect(machine.isKnown && !machine.knowsWhatIsStored)
    }

    @Test func theIndexIsConsultedBeforeTheOrigin() throws {
        var machine = Self.machine()
        #expect(machine.mustLoad)
        #expect(try open(&machine) == "discover")
        machine.loaded(.generation(Fake()))
        #expect(!machine.mustLoad)
        machine.lookupEnded()
        #expect(try open(&machine) == "use")
    }

    @Test func anUnknownResourceIsProbedByItsFirstReader() throws {
        var machine = Self.machine()
        machine.loaded(.nothing)
        #expect(try open(&machine) == "discover")
        #expect(try open(&machine) == "follow", "a collapsed request, RFC 9111 §4")
        let isAdopted = machine.adopted(Fake())
        #expect(isAdopted)
        machine.lookupEnded()
        #expect(try open(&machine) == "use")
    }

    @Test func aLookupIsFollowedAsLongAsItLasts() throws {
        var machine = Self.machine()
        guard case .lead(let lookup, _) = machine.open(try Self.wanted(), at: Self.start),
            case .follow(let same) = machine.open(try Self.wanted(), at: Self.start)
        else {
            Issue.record("the first reader leads, the second follows")
            return
        }
        #expect(lookup === same)
        #expect(try find(&machine) == "follow")
        #expect(!machine.isIdle)
        machine.lookupEnded()
        #expect(machine.isIdle)
    }

    @Test func whatMustNotBeStoredBypassesForTenSeconds() throws {
        var machine = Self.machine(with: Fake(.validate(.stale)))
        machine.storingForbidden(at: Self.start)
        #expect(machine.generation == nil)
        #expect(try open(&machine) == "bypass")
        #expect(try open(&machine, at: Self.later(9)) == "bypass", "no read waits for another one")
        var (asked, download) = (machine, try Self.wanted())
        download.origin.demand = .download
        #expect(try open(&asked, download) == "discover", "it has no use for bytes that are not stored")
        #expect(try open(&machine, at: Self.later(10)) == "discover")
    }

    @Test func aBypassEndsWithAResponseThatMayBeStored() throws {
        var machine = Self.machine()
        machine.storingForbidden(at: Self.start)
        machine.storingAllowed()
        #expect(try open(&machine) == "discover")
        machine.loaded(.generation(Fake()))
        machine.lookupEnded()
        machine.storingAllowed()
        #expect(try open(&machine) == "use", "only a bypass ends")
    }

    @Test func anErrorThatIsKeptAnswersForItsLifetime() throws {
        var machine = Self.machine()
        machine.refused(try Self.refusal(404, [.cacheControl: "max-age=60"], at: Self.start))
        #expect(try open(&machine, at: Self.later(59)) == "refuse 404")
        #expect(try open(&machine, Self.wanted([.accept: "audio/*"])) == "discover", "other fields ask for themselves")
        machine.lookupEnded()
        #expect(try open(&machine, at: Self.later(60)) == "discover")
    }

    @Test("no-cache asks the origin about a kept error, in a shared cache (RFC 9111 §5.2.1.4)")
    func noCacheAsksAgain() throws {
        for isShared in [false, true] {
            var machine = Self.machine { $0.isShared = isShared }
            machine.refused(try Self.refusal(404, [.cacheControl: "max-age=60"], at: Self.start))
            let step = try open(&machine, Self.wanted(directives: "no-cache"))
            #expect(step == (isShared ? "discover" : "refuse 404"))
        }
    }

    @Test func anErrorDoesNotReplaceStoredBytes() throws {
        var machine = Self.machine(with: Fake())
        machine.refused(try Self.refusal(404, [.cacheControl: "max-age=60"], at: Self.start))
        #expect(machine.cachedRefusal == nil)
        #expect(try open(&machine) == "use")
    }

    @Test("only-if-cached and offline never ask the origin (RFC 9111 §5.2.1.7)", arguments: [false, true])
    func withoutTheOrigin(isOffline: Bool) throws {
        let wanted = try Self.wanted(directives: isOffline ? nil : "only-if-cached")
        func step(_ machine: Machine) throws -> String {
            var machine = machine
            return try open(&machine, wanted)
        }
        func machine(_ generation: Fake) -> Machine { Self.machine(with: generation) { $0.isOffline = isOffline } }
        #expect(try step(machine(Fake())) == "use")
        #expect(try step(machine(Fake(isWhole: false))) == "unavailable")
        #expect(try step(machine(Fake(isWhole: false, isShort: true))) == "use", "416 (RFC 9110 §15.5.17)")
        #expect(try step(machine(Fake(.validate(.stale)))) == (isOffline ? "use" : "unavailable"))
        #expect(try step(machine(Fake(isFrozen: true))) == "unavailable")
        var empty = Self.machine { $0.isOffline = isOffline }
        #expect(try step(empty) == "discover", "the index may know it")
        empty.loaded(.nothing)
        #expect(try step(empty) == "unavailable")
        empty.storingForbidden(at: Self.start)
        #expect(try step(empty) == "unavailable")
    }

    // MARK: - What ends a generation

    @Test func aGenerationThatCannotServeIsReplaced() throws {
        let generation = Fake()
        var machine = Self.machine(with: generation)
        #expect(try open(&machine, unusable: generation) == "replace")
        machine.lookupEnded()
        var frozen = Self.machine(with: Fake(isFrozen: true))
        #expect(try open(&frozen) == "replace")
        #expect(try find(&frozen) == "follow")
        frozen.lookupEnded()
        #expect(try find(&frozen) == "nothing")
    }

    @Test func aGenerationIsForgottenOnce() throws {
        let generation = Fake()
        var machine = Self.machine(with: generation)
        let forgotten = [machine.forget(Fake()), machine.forget(generation), machine.forget(generation)]
        #expect(forgotten[0] == nil, "another one")
        #expect(forgotten[1] === generation)
        #expect(forgotten[2] == nil)
        #expect(!machine.mustLoad, "its record may still be there, as in a read-only cache")
        #expect(try open(&machine) == "discover")
    }

    @Test func varyingMakesRoomForVariants() throws {
        let generation = Fake()
        var machine = Self.machine(with: generation)
        let retired = [
            machine.variesBy(Vary(names: ["accept"])), machine.variesBy(Vary(names: ["accept", "range"])),
        ]
        #expect(retired[0] === generation)
        #expect(retired[1] == nil)
        #expect(machine.vary == Vary(names: ["accept", "range"]))
    }

    @Test("an unsafe method makes what is kept unusable (RFC 9111 §4.4)") func invalidation() throws {
        let generation = Fake()
        var machine = Self.machine(with: generation)
        let stale = machine.invalidated()
        #expect(stale === generation)
        #expect(machine.generation === generation, "the generation itself is stale now")
        machine = Self.machine()
        machine.refused(try Self.refusal(404, [.cacheControl: "max-age=60"], at: Self.start))
        let nothing = machine.invalidated()
        #expect(nothing == nil)
        #expect(try open(&machine) == "discover")
    }

    // MARK: - The table

    @Test func whatIsUsedStaysInTheTable() throws {
        var machine = Self.machine(with: Fake(isIdle: false))
        #expect(detach(&machine, .ifUnused) == false)
        machine = Self.machine(with: Fake(hasUnrecorded: true))
        #expect(detach(&machine, .ifRecorded) == false)
        #expect(!machine.isDetached)
        #expect(detach(&machine, .ifUnused) == true)
        #expect(machine.isDetached)
        machine = Self.machine(with: Fake(isIdle: false, hasUnrecorded: true))
        #expect(detach(&machine, .always) == true)
    }

    private func detach(_ machine: inout Machine, _ when: Machine.Detachment) -> Bool {
        if case .leaves = machine.detach(when) { true } else { false }
    }

    @Test func aDetachedResourceTakesInNothing() throws {
        var machine = Self.machine()
        #expect(try open(&machine) == "discover")
        _ = machine.detach(.always)
        let isAdopted = machine.adopted(Fake())
        #expect(!isAdopted)
        machine.loaded(.generation(Fake()))
        #expect(machine.generation == nil)
        #expect(try open(&machine) == "moved")
        #expect(try find(&machine) == "moved")
    }

    @Test func useIsNotedOnce() throws {
        var machine = Self.machine(with: Fake())
        var uses = [machine.takeUse()]
        _ = try open(&machine)
        uses += [machine.takeUse(), machine.takeUse()]
        let hit = machine.hit()
        uses.append(machine.takeUse())
        #expect(hit != nil)
        #expect(uses == [false, true, false, true])
    }

    @Test func theIndexIsConsultedAgainWhenAFileCouldNotBeOpened() throws {
        var machine = Self.machine()
        machine.loaded(.nothing)
        machine.openingFailed()
        #expect(machine.mustLoad)
        #expect(try find(&machine) == "load")
    }

    @Test func aHoleThatStayedNeedsTheWhole() {
        var machine = Self.machine(with: Fake())
        #expect(!machine.needsWhole)
        machine.holeStayed()
        #expect(machine.needsWhole)
    }
}
