import { Code, CopyButton } from '../parts/code.tsx'
import { Shell } from '../shell.tsx'

interface NewKeyProps {
  name: string
  apiKey: string
  /** The first request to send with the key. */
  request: readonly string[]
}

/** Shows a new key. No other page shows the key. */
export const NewKeyPage = ({ name, apiKey, request }: NewKeyProps) => (
  <Shell title="New key">
    <div class="page stack">
      <section class="card marked">
        <div class="head">
          <h2>“{name}” is ready</h2>
          <strong>You will not see it again</strong>
        </div>
        <div class="pad stack">
          <div class="row">
            <Code id="new-key" label="The key">
              {apiKey}
            </Code>
            <CopyButton of="new-key" main />
          </div>
          <div class="row between">
            <h3>Try it</h3>
            <CopyButton of="first-request" />
          </div>
          <Code id="first-request" label="A first request">
            {request.join('\n')}
          </Code>
        </div>
      </section>
      <p>
        <a class="button" href="/console/keys">
          I have saved the key
        </a>
      </p>
    </div>
  </Shell>
)
