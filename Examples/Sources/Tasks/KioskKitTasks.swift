import ClubKit
import KioskKit
import KioskTerminal
import ReaderKit

// The code of the articles in Sources/KioskKit/KioskKit.docc and Sources/KioskTerminal/KioskTerminal.docc; that of a
// screen of one's own is in KioskScreen.

@MainActor
func showVisitors(
    of club: Club,
    _ backend: some ReaderBackend,
    theme: Theme,
    in view: some VisitorView
) async throws {
    let model = KioskModel()
    let screen = Screen(VisitorPresenter(model, theme: theme), view: view, shownAs: view)
    screen.appear()
    let following = Task { try await model.follow(club) }
    for await event in CardScanner(backend).events() {
        model.note(event)
        if case .scan(let tap) = event { _ = try await club.receive(tap) }
    }
    following.cancel()
    screen.destroy()
}

@MainActor
func followTheme(_ path: String, of presenter: VisitorPresenter) async {
    for await result in ThemeFile(path).changes() {
        switch result {
        case .success(let theme): presenter.theme = theme
        case .failure(let error): print(error)
        }
    }
}

@MainActor
protocol MemberTable: AnyObject {
    func apply(_ changes: ListChanges, of members: [Member])
    func show(_ fault: String)
}

@MainActor
func listMembers(of club: Club, in table: any MemberTable) -> PagedDataSource<Member, Member> {
    let members = PagedDataSource(section: "members", visibleCount: 20, load: club.memberPages(order: .username))
    members.list.observe { list, changes in table.apply(changes, of: list.items) }
    members.stateDidChange = { state in
        if case .failed(let error) = state { table.show("\(error)") }
    }
    members.loadMore()
    return members
}

@MainActor
func showRow(_ index: Int, of members: PagedDataSource<Member, Member>) {
    members.rowWillAppear(at: index)
}

@MainActor
func followLatest(of club: Club, in table: any MemberTable) async throws {
    let latest = ListDataSource<Member>(section: "latest")
    latest.observe { list, changes in table.apply(changes, of: list.items) }
    for try await window in club.members(in: MemberQuery(order: .lastVisit, limit: 20)) {
        latest.update(to: window.members, changes: window.changes)
    }
}

@MainActor
func showInTerminal(_ model: KioskModel, theme: Theme) async throws {
    let session = try TerminalSession()
    defer { session.close() }
    let view = TerminalVisitorView(session)
    let screen = Screen(VisitorPresenter(model, theme: theme), view: view, shownAs: view)
    screen.appear()
    for await event in session.events {
        switch event {
        case .resized(let size): view.resize(to: size)
        case .key(.escape): return
        case .key: break
        }
    }
}

func draw(_ text: String, in session: TerminalSession) {
    var canvas = TerminalCanvas(size: session.size)
    canvas.draw(text, in: 0..<canvas.size.columns, row: 0, .center, style: TerminalCanvas.Style(isBold: true))
    session.draw(canvas)
}
