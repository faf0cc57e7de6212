import { buffer } from 'node:stream/consumers'
import { sha256 } from '../../domain/digest.ts'
import { OneAtATime } from '../../flow/one-at-a-time.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { PictureScaler } from '../../ports/picture-scaler.ts'
import type { Provider } from '../../ports/provider.ts'
import type { Random } from '../../ports/random.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { newRunId } from '../ids.ts'
import type { Offers } from './offers.ts'

/** The longer side of a sample, in pixels: the largest tile of the first page on a sharp screen. */
const MAX_SIDE = 800

/** Another number makes all samples anew. */
const EDITION = 1

const SCENES = [
  'northern lights above a fjord',
  'rolling hills of lavender in the evening',
  'a lighthouse in a storm at night',
  'a quiet mountain lake at sunrise',
  'a desert with red cliffs at noon',
  'a tropical beach at dusk',
  'an island in a calm sea at sunset',
  'cherry blossoms on a hill in spring',
  'snow over a pine forest under the stars',
  'an autumn river in fog',
  'a golden wheat field in summer',
  'misty cliffs by the sea at dawn',
  'a green valley after the rain',
  'moonlit dunes',
  'a volcano at night',
  'a city skyline at blue hour',
]

/** The sandbox serves accounts in turn. */
const NOBODY = 'acct_00000000000000000000000000' as const

/** Pictures are small enough to stay in memory. */
const noFile = () => {
  throw new Error('the sandbox paints pictures in memory')
}

interface Dependencies {
  offers: Offers
  objects: Pick<ObjectStore, 'get' | 'put'>
  scaler: Pick<PictureScaler, 'scale'>
  /** Paints the samples; undefined if the service has no sandbox. */
  sandbox: Pick<Provider, 'submit'> | undefined
  random: Random
  /** Aborts when the service stops. */
  stopping: AbortSignal
}

/** A picture for each family of the catalog. The sandbox paints it once, and the object store keeps it. */
export class Samples {
  readonly #dependencies: Dependencies
  /** Painting takes a core for a second, which runs need more. */
  readonly #turns = new OneAtATime<'samples'>()

  readonly permissions = { pictureOf: 'public' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** The sample of a public family, as a JPEG; undefined if there is none. Rejects with Unavailable. */
  async pictureOf(_caller: Caller, family: string): Promise<Answer<Uint8Array | undefined>> {
    const { offers, objects } = this.#dependencies
    const offered = await offers.list(false)
    const at = offered.findIndex(offer => offer.family.id === family)
    if (at === -1) return answer(undefined)
    const key = `samples/${sha256(`${EDITION} ${family}`).slice(0, 32)}.jpg`
    const stored = async () => {
      const object = await objects.get(key)
      return object && answer(new Uint8Array(await buffer(object.body)))
    }
    const known = await stored()
    if (known) return known
    return this.#turns.do('samples', async () => (await stored()) ?? this.#paint(key, at))
  }

  async #paint(key: string, at: number): Promise<Answer<Uint8Array | undefined>> {
    const { sandbox, scaler, objects, random, stopping } = this.#dependencies
    const input = { prompt: SCENES[at % SCENES.length], aspect_ratio: '4:3', seed: at + 1 }
    const upstream = { model: 'sandbox', operation: 'sandbox', parameters: input }
    const job = {
      runId: newRunId(random),
      accountId: NOBODY,
      endpoint: 'sample-t2i',
      input,
      upstream,
      openFile: noFile,
    }
    const painted = await sandbox?.submit(job, stopping)
    const [picture] = painted?.kind === 'done' ? painted.media : []
    if (!picture || !('bytes' in picture)) return answer(undefined)
    const small = await scaler.scale(picture.bytes, MAX_SIDE, stopping, 'samples')
    if (!small) return answer(undefined)
    await objects.put(key, small, 'image/jpeg', { ifAbsent: true })
    return answer(small)
  }
}
