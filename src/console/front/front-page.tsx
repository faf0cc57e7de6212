import type { ModelFamily } from '../../../schemas/api/model.ts'
import { Outside } from '../outside.tsx'
import { Code } from '../parts/code.tsx'
import { ModelList } from '../parts/model-list.tsx'
import { decimal } from '../parts/text.ts'
import type { RegistrationNote } from '../sign-in/sign-in-page.tsx'
import { PICTURE_PATH, sampleOf } from './pictures.ts'
import type { Words } from './words.ts'

interface FrontProps {
  isSignedIn: boolean
  registration: RegistrationNote
  /** The public families. */
  families: readonly ModelFamily[]
  /** The request that makes the picture beside it. */
  request: readonly string[]
  /** The operator's words; our own if undefined. */
  words: Words | undefined
}

/** Introduces the service to people in a browser. */
export const FrontPage = ({ isSignedIn, registration, families, request, words }: FrontProps) => (
  <Outside title={words?.title ?? 'Every model, one key'}>
    <section class="hero">
      {words ? (
        <>
          <h1 dir="auto">{words.title}</h1>
          <div class="prose" dir="auto" dangerouslySetInnerHTML={words.introduction} />
        </>
      ) : (
        <OurIntroduction families={families.length} />
      )}
      <div class="row wrap">
        <a class="button main big" href={isSignedIn ? '/console' : '/console/sign-in'}>
          {isSignedIn ? 'Open the console' : actionOf(registration)}
        </a>
        <a class="button big" href="/docs">
          Read the API
        </a>
      </div>
    </section>
    {families.length > 0 && <Mosaic families={families} />}
    {!words && <OurPromises />}
    <section class="halves example" aria-labelledby="example">
      <div class="stack">
        <h2 id="example">A picture in one request</h2>
        <Code id="first-request" label="curl">
          {request.join('\n')}
        </Code>
        <p>
          <a class="button" href="/docs/first-request">
            Send your first request
          </a>
        </p>
      </div>
      <img src={PICTURE_PATH} alt="A mountain lake at sunrise, as the sandbox draws it" loading="lazy" />
    </section>
    {families.length > 0 && (
      <section class="stack" id="models">
        <h2>Models and prices</h2>
        <ModelList families={families} />
      </section>
    )}
  </Outside>
)

const OurIntroduction = ({ families }: { families: number }) => (
  <>
    <h1>
      Every model.
      <br />
      One key. A bill that adds up.
    </h1>
    <p>
      Images, video, audio and text from {families} model families over one API and MCP. Each credit that you spend has
      a receipt. You can check your own ledger, and an auditor with a key can check the ledger of all accounts.
    </p>
  </>
)

const OurPromises = () => (
  <section class="three">
    <div>
      <h2>Charged once</h2>
      <p>A repeated request, a lost connection or a crash never costs twice. What fails is refunded at once.</p>
    </div>
    <div>
      <h2>Prices you can read</h2>
      <p>Each price is a published formula: a quote before the run, a receipt after it, and a limit for every key.</p>
    </div>
    <div>
      <h2>Open books</h2>
      <p>Your ledger is yours: export it, replay it, and prove it offline with a program of one file.</p>
    </div>
  </section>
)

/** What the tiles of the mosaic show, in their order. */
const TILES = [
  'image',
  'image',
  'image',
  'image',
  'image',
  'image',
  'video',
  'image',
  'image',
  'video',
  'image',
  'image',
  'video',
]

const Mosaic = ({ families }: { families: readonly ModelFamily[] }) => (
  <section class="mosaic" aria-label="What the models make">
    {tilesOf(families).map(({ id, name, output_type: makes }) => (
      <a key={id} href={`/console/playground?model=${id}`}>
        <img src={sampleOf(id)} alt="" loading="lazy" />
        <span>
          {name}
          {makes === 'video' && ' · video'}
        </span>
      </a>
    ))}
  </section>
)

/** Families for the tiles. Another kind takes the place of a kind that the catalog lacks. */
const tilesOf = (families: readonly ModelFamily[]): ModelFamily[] => {
  const left = families.filter(({ output_type: makes }) => makes === 'image' || makes === 'video')
  return TILES.flatMap(kind => {
    const at = Math.max(
      0,
      left.findIndex(({ output_type: makes }) => makes === kind),
    )
    return left.splice(at, 1)
  })
}

const actionOf = ({ mode, welcomeCredits }: RegistrationNote) =>
  mode === 'open' && welcomeCredits > 0 ? `Start with ${decimal(welcomeCredits)} free credits` : 'Sign in'
