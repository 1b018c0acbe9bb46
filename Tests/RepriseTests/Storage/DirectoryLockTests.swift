import RepriseTesting
import TestLimits
import Testing

@testable import Reprise

@Suite("The lock of a cache directory", .limit(minutes: 1))
struct DirectoryLockTests {
    /// Paths as given by iOS and its simulator, and macOS.
    @Test(arguments: [
        ("/private/var/mobile/Containers/Shared/AppGroup/6A6F-1/Library/Caches/Reprise", true),
        ("/Users/a/Library/Developer/CoreSimulator/Devices/B/data/Containers/Shared/AppGroup/6A6F-1", true),
        ("/private/var/mobile/Containers/Data/Application/6A6F-1/Library/Caches/Reprise", false),
        ("/Users/a/Library/Group Containers/group.example/Reprise", false), ("/tmp/Shared/AppGroup", false),
    ])
    func groupContainersAreTold(_ path: String, _ isGroup: Bool) {
        #expect(DirectoryLock.isInGroupContainer(path) == isGroup)
    }

    @Test func aGroupContainerIsRefusedWhereAppsAreSuspended() throws {
        let root = try TemporaryDirectory()
        let directory = root.path(of: "Containers/Shared/AppGroup/A")
        try SystemFileSystem().makeDirectory(directory)
        let error = #expect(throws: RepriseError.self) {
            _ = try DirectoryLock(directory: directory, in: SystemFileSystem(), suspendsApps: true)
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("app-group container") == true)
        try DirectoryLock(directory: directory, in: SystemFileSystem(), suspendsApps: false).release()
        try DirectoryLock(directory: root.path, in: SystemFileSystem(), suspendsApps: true).release()
    }
}
