import { Code } from '../parts/code.tsx'

export interface NewKeyProps {
  name: string
  apiKey: string
  /** The first request to send with the key. */
  request: readonly string[]
}

/** Shows a new key. */
export const NewKey = ({ name, apiKey, request }: NewKeyProps) => (
  <section class="card marked" aria-label="The new key">
    <div class="head">
      <h2 {...{ tabindex: -1, autofocus: true }}>
        “<bdi>{name}</bdi>” is ready
      </h2>
      <strong class="small">You will not see it again</strong>
    </div>
    <div class="pad stack">
      <div data-shown-once="/console/keys">
        <Code id="new-key" label="The key" main>
          {apiKey}
        </Code>
      </div>
      <Code id="first-request" label="A first request">
        {request.join('\n')}
      </Code>
    </div>
  </section>
)
