/// Policies for well-known services: the query items that say who asks, and until when, are no part of the key.
///
/// All other items stay, such as the quality of a transcoded stream. Users are not part of the key either: where one
/// must not see what another may, use partitions (``MediaCache/resource(for:fields:partition:)-(ResourceURL,_,_)``).
/// URLs of other services are kept whole, unless they have items of these names. The documents that each is made after
/// are named in `docs/public-api.md`.
extension CacheKeyPolicy {
    /// Servers with the interface of Subsonic: Navidrome, Airsonic, Gonic and others.
    ///
    /// Drops user, password, token and salt, which is another one in each URL, and the names of client and versions.
    public static let subsonic = droppingQueryItems(["u", "p", "t", "s", "apiKey", "v", "c", "f"])

    /// Jellyfin: drops the token, and the device and the play that a URL is for.
    public static let jellyfin = droppingQueryItems([
        "ApiKey", "api_key", "X-Emby-Token", "X-MediaBrowser-Token", "DeviceId", "deviceId", "PlaySessionId",
        "playSessionId",
    ])

    /// Plex: drops the token, and what says which program on which device plays.
    public static let plex = droppingQueryItems([
        "X-Plex-Token", "X-Plex-Client-Identifier", "X-Plex-Session-Identifier", "X-Plex-Session-Id",
        "X-Plex-Playback-Session-Id", "X-Plex-Playback-Id", "X-Plex-Product", "X-Plex-Version", "X-Plex-Platform",
        "X-Plex-Platform-Version", "X-Plex-Provides", "X-Plex-Device", "X-Plex-Device-Name", "X-Plex-Model",
        "X-Plex-Language",
    ])

    /// URLs signed for Amazon CloudFront, with a canned or a custom policy.
    public static let cloudFront = droppingQueryItems([
        "Expires", "Policy", "Signature", "Key-Pair-Id", "Hash-Algorithm",
    ])

    /// URLs signed for Google Cloud Storage (V4 and V2) and Cloud CDN.
    ///
    /// `generation`, which selects a version of an object, stays.
    public static let googleCloud = droppingQueryItems([
        "X-Goog-Algorithm", "X-Goog-Credential", "X-Goog-Date", "X-Goog-Expires", "X-Goog-SignedHeaders",
        "X-Goog-Signature", "GoogleAccessId", "Expires", "Signature", "KeyName",
    ])

    /// URLs of Azure Storage with a shared access signature: of an account, a service or a user.
    ///
    /// `snapshot` and `versionid`, which select a version of a blob, stay, and so do the fields that a URL sets, such
    /// as `rsct`.
    public static let azure = droppingQueryItems([
        "sv", "ss", "srt", "sr", "sp", "st", "se", "sip", "spr", "si", "sig", "sdd", "ses", "skoid", "sktid", "skt",
        "ske", "sks", "skv", "saoid", "suoid", "scid", "sduoid", "skdutid",
    ])
}
