import type { Folder } from '../../ports/object-store.ts'

export interface Retention {
  uploadsMs: number
  outputsMs: number
}

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * A bucket's lifecycle rules with ours among them, which remove what the service itself has left for a day too long;
 * undefined when they are there already. Those that others have made stay as they are, to the letter.
 */
export const withOurRules = (xml: string, { uploadsMs, outputsMs }: Retention): string | undefined => {
  const present = [...xml.matchAll(/<Rule>.*?<\/Rule>/gs)].map(([rule]) => rule)
  const ours = [ourRule(present, 'uploads', uploadsMs), ourRule(present, 'outputs', outputsMs)]
  if (ours.every(({ isPresent }) => isPresent)) return undefined
  const others = present.filter(rule => ours.every(({ id }) => idOf(rule) !== id))
  return `<LifecycleConfiguration xmlns="${XMLNS}">${[...others, ...ours.map(({ rule }) => rule)].join('')}</LifecycleConfiguration>`
}

const XMLNS = 'http://s3.amazonaws.com/doc/2006-03-01/'

const ourRule = (present: string[], folder: Folder, retentionMs: number) => {
  const id = `tollgate-${folder}`
  const before = present.find(rule => idOf(rule) === id)
  const daysBefore = Number(/<Days>(\d+)<\/Days>/.exec(before ?? '')?.[1] ?? 0)
  // What is there was promised the time that held then.
  const days = Math.max(Math.ceil(retentionMs / DAY_MS) + 1, daysBefore)
  const filter = `<Filter><Prefix>${folder}/</Prefix></Filter>`
  const rule = `<Rule><ID>${id}</ID>${filter}<Status>Enabled</Status><Expiration><Days>${days}</Days></Expiration></Rule>`
  return { id, rule, isPresent: days === daysBefore && before?.includes('<Status>Enabled</Status>') }
}

const idOf = (rule: string) => /<ID>(.*?)<\/ID>/s.exec(rule)?.[1]
