import type { Children, Markup } from '#jsx/jsx-runtime'
import { Brand, Document } from './document.tsx'
import { Finder } from './finder/finder.tsx'
import { navigation, type Place } from './navigation.ts'
import { type PageAccount, PageContext } from './page-state.ts'
import { Button, Form } from './parts/form.tsx'
import { Icon } from './parts/icon.tsx'
import { Figure } from './parts/numbers.tsx'
import { credits, plural } from './parts/text.ts'

interface ShellProps {
  title: string
  /** The heading, if it says more than the title. */
  heading?: Children
  /** The scripts of this page, besides those of all pages. */
  scripts?: readonly string[]
  /** Where people with a keyboard want to be at once, if not at the beginning of the content. */
  skip?: { href: string; label: string }
  children: Children
}

/** The frame of the pages for people who are signed in. */
export const Shell = ({ title, heading, scripts, skip, children }: ShellProps) => (
  <Document title={title} {...(scripts && { scripts })}>
    <PageContext.Consumer>
      {({ account, url }) => (
        <>
          <a class="skip button" href="#content">
            Skip to the content
          </a>
          {skip && (
            <a class="skip button" href={skip.href}>
              {skip.label}
            </a>
          )}
          {account?.isTest && (
            <aside class="test-band" aria-label="Mode">
              Test mode: nothing is charged.{' '}
              <span class="hide-small">Runs and keys here are apart from the live ones.</span>
            </aside>
          )}
          <div class="app">
            <Side account={account} url={url} />
            <div>
              <header class="top">
                <h1>{heading ?? title}</h1>
                <button type="button" class="search-box end" data-opens="finder" aria-haspopup="dialog">
                  <Icon name="search" />
                  <span>Search, or paste any ID</span>
                  <kbd class="hide-small">Ctrl K</kbd>
                </button>
                {account && <TestSwitch account={account} url={url} />}
                {account && <AccountMenu account={account} url={url} />}
              </header>
              <main id="content" tabindex={-1}>
                {children}
              </main>
            </div>
          </div>
          <TabBar url={url} />
          <Finder />
          <div id="status" class="visually-hidden" role="status" />
        </>
      )}
    </PageContext.Consumer>
  </Document>
)

const AccountMenu = ({ account, url }: { account: PageAccount; url: string }) => (
  <>
    <button type="button" class="avatar" popovertarget="account" title={account.name}>
      <span aria-hidden="true">{initials(account.name)}</span>
      <span class="visually-hidden">Account</span>
    </button>
    <div class="account-menu" id="account" popover="auto">
      <p>
        <span class="small faint">Signed in as</span>
        <strong class="cut" dir="auto">
          {account.name}
        </strong>
      </p>
      <a href="/console/settings">
        <Icon name="settings" />
        Settings
      </a>
      <TestSwitch account={account} url={url} />
      <Form action="/console/sign-out">
        <Button>
          <Icon name="log-out" />
          Sign out
        </Button>
      </Form>
    </div>
  </>
)

const Side = ({ account, url }: { account: PageAccount | undefined; url: string }) => (
  <nav class="side" aria-label="Console">
    <Brand href="/console" />
    {navigation.account.map(place => (
      <PlaceLink key={place.href} place={place} url={url} />
    ))}
    {account?.isOperator && <h2>Operator</h2>}
    {account?.isOperator && navigation.operator.map(place => <PlaceLink key={place.href} place={place} url={url} />)}
    <div class="gap" />
    <PlaceLink place={navigation.documentation} url={url} />
    {account && (
      <div class="foot">
        <a class="balance" href="/console/credits">
          <BalanceText account={account} />
        </a>
      </div>
    )}
  </nav>
)

/** What the navigation says of the balance. */
export const BalanceText = ({ account: { balanceMicros, heldMicros, holdingRuns } }: { account: PageAccount }) => (
  <>
    Balance
    <strong>
      <Figure micros={balanceMicros} />
    </strong>
    {holdingRuns > 0 && `${credits(heldMicros)} held by ${plural(holdingRuns, 'run')}`}
  </>
)

/** The navigation of phones. */
const TabBar = ({ url }: { url: string }) => (
  <nav class="tab-bar" aria-label="Console">
    {[...navigation.account.slice(0, 4), navigation.more].map(place => (
      <PlaceLink key={place.href} place={place} url={url} />
    ))}
  </nav>
)

const PlaceLink = ({ place: { href, name, icon }, url }: { place: Place; url: string }): Markup => (
  <a href={href} {...(isAt(url, href) && { 'aria-current': 'page' as const })}>
    <Icon name={icon} />
    {name}
  </a>
)

const isAt = (url: string, href: string) => {
  const [path = ''] = url.split('?')
  // The overview of the operator is above its other pages.
  return path === href || (href !== '/console/operator' && path.startsWith(`${href}/`))
}

/** Objects of one mode are not shown in the other, so the switch leads to the list that the page belongs to. */
export const TestSwitch = ({ account: { isTest }, url }: { account: PageAccount; url: string }) => (
  <Form action="/console/mode">
    <input type="hidden" name="back" value={navigation.account.find(({ href }) => isAt(url, href))?.href ?? ''} />
    <input type="hidden" name="mode" value={isTest ? 'live' : 'test'} />
    <Button class={isTest ? 'switch on' : 'switch'} role="switch" aria-checked={String(isTest)}>
      <i />
      Test mode
    </Button>
  </Form>
)

const initials = (name = '') =>
  name
    .split(/[^\p{L}\p{N}]+/u)
    .slice(0, 2)
    .map(word => [...word][0]?.toUpperCase())
    .join('')
