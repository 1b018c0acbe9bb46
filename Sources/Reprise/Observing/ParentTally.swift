/// What servers were asked for that stand in place of origins, and what came of it.
package struct ParentTally: Sendable, Equatable {
    /// How a request to a parent ended.
    package enum Outcome: String, CaseIterable, Sendable {
        /// With the response of the origin.
        case answered
        /// With a response that is not the origin's: the parent ends, has too much to do, or is no server of Reprise.
        case declined
        /// Without a response.
        case failed
    }

    /// Where a request went on for which a parent did not answer.
    package enum Resort: String, CaseIterable, Sendable {
        /// To another parent.
        case parent
        /// To the origin.
        case origin
        /// It failed.
        case nowhere
    }

    /// The counts of one parent.
    package struct Counts: Sendable, Equatable {
        package var requests: [Outcome: Int64] = [:]
        /// Of bodies.
        package var bytes: Int64 = 0
        /// Bodies that broke off.
        package var brokenBodies: Int64 = 0

        package init() {}
    }

    /// By host and port.
    package var parents: [String: Counts] = [:]
    package var resorts: [Resort: Int64] = [:]

    package init() {}
}
