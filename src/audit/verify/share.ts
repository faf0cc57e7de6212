/** One of the parts that verify a log together. Each reads the whole log, and checks the streams of its share. */
export interface Part {
  /** From 0. */
  number: number
  of: number
}

/**
 * The first part also reads every event for the tree of the seals. This is the time that it takes, as a fraction of the
 * time that all checks take, so that no part has to wait for another.
 */
const SEALS_WORK = 0.28

/** The number of the part that checks a stream. Streams that refer to each other event by event are in the first. */
export const partOf = (stream: string, parts: number): number => {
  if (parts === 1 || !/^(account|login)-/.test(stream)) return 0
  const first = Math.max(0, (1 + SEALS_WORK) / parts - SEALS_WORK)
  const place = placeOf(stream)
  return place < first ? 0 : 1 + Math.floor(((place - first) / (1 - first)) * (parts - 1))
}

/** A number from 0 to 1 that spreads streams evenly: FNV-1a, which takes a fraction of the time of a digest. */
const placeOf = (stream: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < stream.length; at++) hash = Math.imul(hash ^ stream.charCodeAt(at), 0x01000193)
  // The last characters have hardly reached the upper bits, which decide.
  return (Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 0) / 2 ** 32
}
