import { Button, Form } from '../parts/form.tsx'
import { Ago, Moment } from '../parts/time.tsx'

/** A session that is open. */
export interface SessionItem {
  sessionId: string
  openedAt: string
  expiresAt: string
  network?: string | undefined
  browser?: string | undefined
  /** Whether this page is shown in it. */
  isOwn: boolean
}

/** Where somebody is signed in to the account, with buttons that end sessions. */
export const SessionTable = ({ sessions }: { sessions: readonly SessionItem[] }) => (
  <section class="card">
    <div class="head">
      <h2 id="sessions">Sessions</h2>
      <div class="row wrap">
        {sessions.length > 1 && (
          <Form action="/console/sessions/end-others">
            <Button>End all others</Button>
          </Form>
        )}
        <Form action="/console/sign-out-everywhere">
          <Button class="quiet">Sign out everywhere</Button>
        </Form>
      </div>
    </div>
    <section class="scroll" aria-label="Sessions" tabindex={0}>
      <table class="fold">
        <thead>
          <tr>
            <th>Browser</th>
            <th>Network</th>
            <th>Signed in</th>
            <th class="hide-small">Ends</th>
            <th>
              <span class="visually-hidden">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sessions.map(({ sessionId, browser = 'Unknown', network, openedAt, expiresAt, isOwn }) => (
            <tr key={sessionId}>
              <td>
                {browser} {isOwn && <span class="badge good plain">this one</span>}
              </td>
              <td class="mono muted">{network ?? '–'}</td>
              <td class="muted">
                <Ago at={openedAt} />
              </td>
              <td class="hide-small muted">
                <Moment at={expiresAt} />
              </td>
              <td class="num">
                {!isOwn && (
                  <Form action={`/console/sessions/${sessionId}/end`}>
                    <Button class="quiet red" aria-label={`End session: ${browser}, ${network ?? 'unknown network'}`}>
                      End session
                    </Button>
                  </Form>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  </section>
)
