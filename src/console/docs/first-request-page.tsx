import type { ApiKey } from '../../../schemas/api/key.ts'
import type { ModelFamily } from '../../../schemas/api/model.ts'
import { addServer, curlRead, curlRun, KEY_VARIABLE } from '../../services/catalog/example-request.ts'
import { ModelList } from '../parts/model-list.tsx'
import { DocsFrame } from './docs-frame.tsx'
import { GuideSide, Neighbours } from './guide-pages.tsx'
import type { Guide, Shelf } from './library.ts'
import { REFERENCE } from './paths.ts'
import { Snippet } from './snippet.tsx'

interface FirstRequestProps {
  shelves: readonly Shelf[]
  next: Guide | undefined
  url: string
  isSignedIn: boolean
  /** The newest key of the reader that can run models. */
  apiKey: ApiKey | undefined
  /** The families on offer; undefined if the service shows them only to people who have signed in. */
  families: readonly ModelFamily[] | undefined
  /** The body of a run that works here. */
  run: string
}

/** The key in examples: a variable of the reader's shell. */
const KEY = `$${KEY_VARIABLE}`

/** Valid in every shell, and clearly not a key. */
const PLACEHOLDER = 'PASTE-YOUR-KEY-HERE'

/** The body of a run that takes a while. */
const VIDEO = JSON.stringify({
  model: 'gemini-omni-flash',
  input: { prompt: 'waves on a beach at night', duration: 4, resolution: '360p' },
})

/** How to use the API, from the first key on. */
export const FirstRequestPage = ({ shelves, next, url, isSignedIn, apiKey, families, run }: FirstRequestProps) => (
  <DocsFrame title="Your first request" side={<GuideSide shelves={shelves} />}>
    <div class="guide">
      <article class="prose">
        <h1>Your first request</h1>
        <p class="lead muted">
          From the first key to a video, in six steps. The whole API, with every field and error, is in the{' '}
          <a href={REFERENCE}>API reference</a>.
        </p>
        <h2 id="create-a-key">1. Create a key</h2>
        {apiKey ? (
          <p>
            You have the key <strong dir="auto">{apiKey.name}</strong>, which ends in <code>{apiKey.last_four}</code>. A
            key shows only once: if you did not keep it, create another.
          </p>
        ) : (
          <p>
            {isSignedIn ? 'Create a key' : 'Sign in, create a key'}, and keep it in a secret manager: it shows only
            once.
          </p>
        )}
        <p>
          <a class="button" href={isSignedIn ? '/console/keys#name' : '/console/sign-in'}>
            {isSignedIn ? 'Create new key' : 'Sign in'}
          </a>
        </p>
        <p>In a terminal, with your key in place of the words:</p>
        <Snippet id="the-key" label="The key" text={`export ${KEY_VARIABLE}=${PLACEHOLDER}`} />
        <h2 id="run-a-model">2. Run a model</h2>
        <p>
          The response has the result in <code>output</code> and the price in <code>credits_charged</code>.
        </p>
        <Snippet id="a-run" label="A run" text={lines(curlRun(`${url}/v1/run`, KEY, run))} />
        <h2 id="get-the-price-first">3. Get the price first</h2>
        <p>A dry run checks the request and returns its price step by step. A dry run costs nothing.</p>
        <Snippet id="a-dry-run" label="A dry run" text={lines(curlRun(`${url}/v1/run?dry_run=true`, KEY, run))} />
        <h2 id="repeat-safely">4. Repeat safely</h2>
        <p>
          If you repeat a request with its <code>Idempotency-Key</code>, the response is the first run, which is charged
          once. A failed run is refunded in full.
        </p>
        <Snippet
          id="a-repeatable-run"
          label="A run with an Idempotency-Key"
          text={lines(curlRun(`${url}/v1/run`, KEY, run, 'Idempotency-Key: order-1041'))}
        />
        <h2 id="wait-for-videos-and-music">5. Wait for videos and music</h2>
        <p>
          The response to these runs is 202 with a <code>run_id</code>. Poll the run until its status is{' '}
          <code>completed</code> or <code>failed</code>, wait with <code>Prefer: wait=60</code>, or set a{' '}
          <code>webhook_url</code>.
        </p>
        <Snippet
          id="a-video"
          label="A video, with a request that waits"
          text={lines(curlRun(`${url}/v1/run`, KEY, VIDEO, 'Prefer: wait=60'))}
        />
        <Snippet id="a-run-by-id" label="A run by its run_id" text={lines(curlRead(`${url}/v1/runs/run_…`, KEY))} />
        <h2 id="use-it-from-an-agent">6. Use it from an agent</h2>
        <p>An MCP client needs the URL and a key. Claude Code, for example, takes them from this command:</p>
        <Snippet id="mcp" label="A command that adds the server to Claude Code" text={addServer(`${url}/mcp`, KEY)} />
        <p>Most other clients accept this configuration, with the whole key:</p>
        <Snippet id="mcp-configuration" label="The configuration of an MCP client" text={mcpConfiguration(url)} />
        <h2 id="models-and-prices">Models and prices</h2>
        {families ? (
          <ModelList families={families} />
        ) : (
          <p>
            <a href="/console/sign-in">Sign in</a> to see all models with their prices.
          </p>
        )}
        <Neighbours previous={undefined} next={next} />
      </article>
    </div>
  </DocsFrame>
)

const lines = (all: readonly string[]) => all.join('\n')

const mcpConfiguration = (url: string) =>
  JSON.stringify(
    {
      mcpServers: {
        tollgate: { type: 'http', url: `${url}/mcp`, headers: { Authorization: `Bearer ${PLACEHOLDER}` } },
      },
    },
    null,
    2,
  )
