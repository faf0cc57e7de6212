import { navigation } from '../navigation.ts'
import { PageContext } from '../page-state.ts'
import { Icon } from '../parts/icon.tsx'

/** More than the longest ID has. */
export const MAX_QUERY = 300

/**
 * Opens with Ctrl+K, or ⌘K on Apple's machines. While somebody types, it shows what the search page shows; Enter opens
 * the selected result.
 */
export const Finder = () => (
  <>
    <dialog id="finder" aria-label="Search">
      <form method="get" action="/console/search">
        <Icon name="search" />
        <input
          name="q"
          type="text"
          role="combobox"
          aria-label="Search, or paste any ID"
          aria-controls="finder-results"
          aria-expanded="true"
          aria-autocomplete="list"
          placeholder="A page, action, model, key, label, prompt or ID"
          autocomplete="off"
          autocapitalize="off"
          spellcheck="false"
          enterkeyhint="go"
          autofocus
          maxlength={MAX_QUERY}
          hx-get="/console/search"
          hx-trigger="opened, input changed delay:80ms"
          hx-target="#finder-results"
          hx-sync="this:replace"
        />
      </form>
      <div id="finder-results" />
      <p class="keys small faint" aria-hidden="true">
        <kbd>↑</kbd> <kbd>↓</kbd> move <kbd>↵</kbd> open <kbd>Esc</kbd> close
      </p>
    </dialog>
    <Shortcuts />
  </>
)

/** Opens with `?`. */
const Shortcuts = () => (
  <PageContext.Consumer>
    {({ account }) => (
      <dialog id="shortcuts" aria-labelledby="shortcuts-title">
        <div class="row between">
          <h2 id="shortcuts-title">Keyboard shortcuts</h2>
          <button type="button" class="quiet" data-closes>
            <Icon name="x" />
            Close
          </button>
        </div>
        <dl class="shortcuts">
          {SHORTCUTS.map(({ keys, text }) => (
            <div key={text}>
              <dt>{text}</dt>
              <dd>
                {keys.map(key => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dd>
            </div>
          ))}
          {[...navigation.account, ...(account?.isOperator ? navigation.operator : []), navigation.documentation].map(
            ({ href, name, key }) => (
              <div key={href}>
                <dt>
                  <a href={href} data-key={key}>
                    {name}
                  </a>
                </dt>
                <dd>
                  <kbd>g</kbd> <kbd>{key}</kbd>
                </dd>
              </div>
            ),
          )}
        </dl>
      </dialog>
    )}
  </PageContext.Consumer>
)

const SHORTCUTS = [
  { keys: ['Ctrl K', '/'], text: 'Search' },
  { keys: ['j', 'k'], text: 'Next and previous row or tile' },
  { keys: ['↵'], text: 'Open the row or tile' },
  { keys: ['Ctrl ↵'], text: 'Send the form' },
  { keys: ['Esc'], text: 'Close' },
  { keys: ['?'], text: 'This list' },
]
