import ClubKit
import Foundation

/// Which club is meant where nobody names its database: that of the kiosk's service, unless this user has one.
package struct ClubPlace: Sendable {
    package var database: DatabaseLocation
    /// The kiosk's file, if that names it.
    package var file: KioskFile?

    package init(database: DatabaseLocation, file: KioskFile? = nil) {
        (self.database, self.file) = (database, file)
    }

    /// In this order: the file that `CLUBKIT_CONFIG` names; `$XDG_DATA_HOME`, where that is set; the file of the service,
    /// where its club is this user's; this user's own club, where there is one; the file of the service; and where this
    /// user's own club would be made.
    ///
    /// - Parameter standard: the file of the service.
    package static func find(
        environment: [String: String],
        standard: String = KioskFile.standardPath
    ) throws(KioskFileError) -> ClubPlace {
        let own = ClubPlace(database: .standard(environment: environment))
        guard let path = configuration(environment: environment, standard: standard) else { return own }
        if path == standard {
            if environment["XDG_DATA_HOME"]?.hasPrefix("/") == true { return own }
            let isServices = (try? KioskFile(path: path))?.database.flatMap(\.owner) == geteuid()
            if own.database.owner != nil, !isServices { return own }
        }
        let file = try KioskFile(path: path)
        return ClubPlace(database: file.database ?? own.database, file: file)
    }

    /// The kiosk's file: that which `CLUBKIT_CONFIG` names, or the service's if there is one.
    package static func configuration(
        environment: [String: String],
        standard: String = KioskFile.standardPath
    ) -> String? {
        if let path = environment[KioskFile.variable], !path.isEmpty { return path }
        var status = stat()
        // One in a folder that this user may not search may be there.
        return stat(standard, &status) == 0 || errno != ENOENT && errno != ENOTDIR ? standard : nil
    }
}

extension DatabaseLocation {
    /// The user to whom the file belongs; `nil` if there is none.
    fileprivate var owner: uid_t? {
        var status = stat()
        guard case .file(let path) = self, stat(path, &status) == 0 else { return nil }
        return status.st_uid
    }
}
