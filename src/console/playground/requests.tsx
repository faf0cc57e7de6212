import { KEY_VARIABLE } from '../../services/catalog/example-request.ts'
import { Code } from '../parts/code.tsx'
import { Tabs } from '../parts/tabs.tsx'

export interface RequestsProps {
  /** The request in the words of each client. */
  examples: readonly { client: string; code: string }[]
}

/** The ID of the element with the request for a client. */
export const requestId = (client: string): string => `request-${client.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`

/** The request of the form for programs. */
export const Requests = ({ examples, replaces = false }: RequestsProps & { replaces?: boolean }) => (
  <section id="requests" aria-label="The same request for programs" {...(replaces && { 'hx-swap-oob': 'true' })}>
    <Tabs
      id="request"
      label="The same request for programs"
      tabs={examples.map(({ client, code }) => {
        const id = requestId(client)
        return {
          name: client,
          content: (
            <Code id={id} label={`The request for ${client}`}>
              {code}
            </Code>
          ),
        }
      })}
    />
    <p class="small faint">
      First set a key from <a href="/console/keys">API keys</a>: <code>export {KEY_VARIABLE}=tg_sk_…</code>
    </p>
  </section>
)
