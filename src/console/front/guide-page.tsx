import type { ModelFamily } from '../../../schemas/api/model.ts'
import { curlRead, curlRun } from '../../services/catalog/example-request.ts'
import { Outside } from '../outside.tsx'
import { Code } from '../parts/code.tsx'
import { decimal } from '../parts/text.ts'

interface GuideProps {
  url: string
  isSignedIn: boolean
  /** The families on offer; undefined if the service shows them only to people who have signed in. */
  families: readonly ModelFamily[] | undefined
  /** The body of a run that works here. */
  run: string
}

/** The key in examples: a variable of the reader's shell. */
export const KEY = '$TOLLGATE_KEY'

/** The body of a run that takes a while. */
const VIDEO = JSON.stringify({
  model: 'gemini-omni-flash',
  input: { prompt: 'waves on a beach at night', duration: 4, resolution: '360p' },
})

/** How to use the API, from the first key on. */
export const GuidePage = ({ url, isSignedIn, families, run }: GuideProps) => (
  <Outside title="Documentation">
    <h1>Documentation</h1>
    <p class="muted">
      The whole API, with every field and error, is in the <a href="/docs">API reference</a>.
    </p>
    <div class="steps">
      <section>
        <h2>1. Create a key</h2>
        <p>
          <a href="/console">{isSignedIn ? 'Open your account' : 'Sign in'}</a>, choose <strong>Create new key</strong>,
          and keep the key in a secret manager: you see it only once. In a terminal:
        </p>
        <Code label="The key">{lines(['export TOLLGATE_KEY=…'])}</Code>
      </section>
      <section>
        <h2>2. Run a model</h2>
        <p>The response has the result in “output” and the price in “credits_charged”.</p>
        <Code label="A run">{lines(curlRun(`${url}/v1/run`, KEY, run))}</Code>
      </section>
      <section>
        <h2>3. Get the price first</h2>
        <p>A dry run checks the request and returns its price step by step. A dry run costs nothing.</p>
        <Code label="A dry run">{lines(curlRun(`${url}/v1/run?dry_run=true`, KEY, run))}</Code>
      </section>
      <section>
        <h2>4. Repeat safely</h2>
        <p>
          If you repeat a request with its Idempotency-Key, the response is the first run, which is charged once. A
          failed run is refunded in full.
        </p>
        <Code label="A run with an Idempotency-Key">
          {lines(curlRun(`${url}/v1/run`, KEY, run, 'Idempotency-Key: order-1041'))}
        </Code>
      </section>
      <section>
        <h2>5. Wait for videos and music</h2>
        <p>
          The response to these runs is 202 with a run_id. Poll the run until its status is “completed” or “failed”,
          wait with the header “Prefer: wait=60”, or set a webhook_url.
        </p>
        <Code label="A video, with a request that waits">
          {lines(curlRun(`${url}/v1/run`, KEY, VIDEO, 'Prefer: wait=60'))}
        </Code>
        <Code label="A run by its run_id">{lines(curlRead(`${url}/v1/runs/run_…`, KEY))}</Code>
      </section>
      <section>
        <h2>6. Use it from an agent</h2>
        <p>An MCP client needs the URL and a key.</p>
        <Code label="The configuration of an MCP client">{lines(mcpConfiguration(url))}</Code>
      </section>
    </div>
    <h2>Models and prices</h2>
    {families ? (
      <Models families={families} />
    ) : (
      <p>
        <a href="/console/sign-in">Sign in</a> to see all models with their prices.
      </p>
    )}
  </Outside>
)

const Models = ({ families }: { families: readonly ModelFamily[] }) => (
  <section class="card scroll" aria-label="Models and prices" tabindex={0}>
    <table>
      <thead>
        <tr>
          <th>Model</th>
          <th>ID</th>
          <th class="hide-small">Makes</th>
          <th class="num">Credits a run</th>
        </tr>
      </thead>
      <tbody>
        {families.map(({ id, name, output_type, credits_range: { min, max } }) => (
          <tr key={id}>
            <td>{name}</td>
            <td>
              <code>{id}</code>
            </td>
            <td class="hide-small">{output_type}</td>
            <td class="num">{min === max ? decimal(min) : `${decimal(min)} – ${decimal(max)}`}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

const lines = (all: readonly string[]) => all.join('\n')

const mcpConfiguration = (url: string) =>
  JSON.stringify(
    { mcpServers: { tollgate: { type: 'http', url: `${url}/mcp`, headers: { Authorization: 'Bearer …' } } } },
    null,
    2,
  ).split('\n')
