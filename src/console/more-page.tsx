import { SearchForm } from './finder/search-form.tsx'
import { navigation } from './navigation.ts'
import { PageContext } from './page-state.ts'
import { Button, Form } from './parts/form.tsx'
import { Icon } from './parts/icon.tsx'
import { Shell, TestSwitch } from './shell.tsx'

/** All places of the console, for phones, whose navigation has room for four. */
export const MorePage = () => (
  <Shell title="More">
    <PageContext.Consumer>
      {({ account, url }) => (
        <div class="page stack">
          <SearchForm label="Search, or paste any ID" placeholder="Search, or paste any ID" button="Search" />
          <nav class="card choices" aria-label="All pages">
            {[...navigation.account, ...(account?.isOperator ? navigation.operator : []), navigation.documentation].map(
              ({ href, name, icon }) => (
                <a key={href} href={href}>
                  <Icon name={icon} />
                  {name}
                </a>
              ),
            )}
          </nav>
          {account && <TestSwitch account={account} url={url} />}
          <Form action="/console/sign-out">
            <Button class="wide">Sign out</Button>
          </Form>
        </div>
      )}
    </PageContext.Consumer>
  </Shell>
)
