import { navigation } from './navigation.ts'
import { PageContext } from './page-state.ts'
import { Icon } from './parts/icon.tsx'

/** Opens with Ctrl+K, or ⌘K on Apple's machines: finds a page by its name, or anything by its ID. */
export const Finder = () => (
  <PageContext.Consumer>
    {({ account }) => (
      <dialog id="finder" aria-label="Search">
        <form method="get" action="/console/search">
          <div class="pad">
            <input
              name="q"
              type="search"
              aria-label="Search, or paste any ID"
              placeholder="A page, or the ID of a run, key, request, upload or account"
              autocomplete="off"
              autofocus
              hx-get="/console/search"
              hx-trigger="input changed delay:200ms, search"
              hx-target="#finder-results"
              hx-sync="this:replace"
            />
          </div>
        </form>
        <div id="finder-results" aria-live="polite" />
        <nav class="choices pages" aria-label="Pages">
          {[...navigation.account, ...(account?.isOperator ? navigation.operator : []), navigation.documentation].map(
            ({ href, name, icon, key }) => (
              <a key={href} href={href} data-key={key}>
                <Icon name={icon} />
                {name}
                <span class="end">
                  <kbd>g</kbd> <kbd>{key}</kbd>
                </span>
              </a>
            ),
          )}
        </nav>
      </dialog>
    )}
  </PageContext.Consumer>
)
