import { Outside } from '../outside.tsx'
import { Code } from '../parts/code.tsx'
import { decimal } from '../parts/text.ts'
import type { RegistrationNote } from '../sign-in/sign-in-page.tsx'

/** A picture by the sandbox, made with the first run of `nano-banana-2`. */
export const PICTURE_PATH = '/console/first-picture.jpg'

interface FrontProps {
  isSignedIn: boolean
  registration: RegistrationNote
  /** The number of public families. */
  families: number
  /** A run that makes a picture, and its price; undefined if no model for pictures is on offer. */
  sample: { model: string; credits: number; request: readonly string[] } | undefined
}

/** Introduces the service to people in a browser. */
export const FrontPage = ({ isSignedIn, registration, families, sample }: FrontProps) => (
  <Outside title="Every model, one key">
    <div class="hero">
      <h1>
        Every model.
        <br />
        One key. A bill that adds up.
      </h1>
      <p>
        Images, video, audio and text from {families} model families over one API and MCP. Each credit that you spend
        has a receipt. You can check your own ledger, and an auditor with a key can check the ledger of all accounts.
      </p>
      <div class="row">
        <a class="button main big" href={isSignedIn ? '/console' : '/console/sign-in'}>
          {isSignedIn ? 'Open the console' : actionOf(registration)}
        </a>
        <a class="button big" href="/guide">
          Read the documentation
        </a>
      </div>
    </div>
    {sample && (
      <section class="card sample" aria-label="A sample">
        <img src={PICTURE_PATH} width={1376} height={768} alt="A mountain lake at sunrise" />
        <div>
          <div class="row between">
            <h2>{sample.model}</h2>
            <span class="muted">{`from ${decimal(sample.credits)} credits`}</span>
          </div>
          <Code label="The request">{sample.request.join('\n')}</Code>
          <p class="muted">
            A sample by the built-in sandbox, with the request for such a picture and the price. Replace{' '}
            <code>$TOLLGATE_KEY</code> with your key.
          </p>
        </div>
      </section>
    )}
    <div class="three">
      <section>
        <h2>Charged once</h2>
        <p>
          A repeated request, a lost connection or a crash never costs you twice. A failed run is refunded in the same
          instant.
        </p>
      </section>
      <section>
        <h2>Prices you can read</h2>
        <p>
          Each price is a published formula. Get a quote before the run and a receipt after it, and limit every key.
        </p>
      </section>
      <section>
        <h2>Open books</h2>
        <p>Your ledger is yours: export it, replay it, and prove it offline with a single-file program.</p>
      </section>
    </div>
  </Outside>
)

const actionOf = ({ mode, welcomeCredits }: RegistrationNote) =>
  mode === 'open' && welcomeCredits > 0 ? `Start with ${welcomeCredits.toLocaleString('en')} free credits` : 'Sign in'
