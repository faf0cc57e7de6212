import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { BrowserClient, codeIn } from '../test/support/browser-client.ts'
import { withFolder } from './support/folder.ts'
import { startProcess, stopProcess } from './support/processes.ts'

/** How many people signed in while others flooded the service with requests for codes. */
export interface SignIns {
  people: string
  count: number
  signedIn: number
  goal: number
  /** The time that the slowest of them took, in milliseconds. */
  slowestMs: number
  requestsPerSecond: number
}

const OWNERS = 100
const NEWCOMERS = 10
/** The networks of the flood: IPv4 /24, and /48 of one IPv6 /32. */
const NETWORKS = 400
const IPV6_NETWORKS = 2_000

/** Requests of the flood at a time. */
const WORKERS = 32

/** The time after which somebody has given up, and after which they request another code. */
const PATIENCE_MS = 60_000
const AGAIN_MS = 10_000

/** How long the flood runs before people sign in. */
const LEAD_MS = 5_000

const SIGN_IN = '/console/sign-in'
const addressOf = (kind: string) => (index: number) => `${kind}-${index}@example.com`

/** Floods the service from IPv4 and IPv6 networks, for new addresses and for those of owners, while people sign in. */
export const measureSignIns = async (): Promise<SignIns[]> => {
  const { folder, discard } = await withFolder()
  const start = (codesPerMinute?: string) =>
    startProcess<{ url: string }>('tollgate-server.js', {
      env: {
        ...{ DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'silent', TRUSTED_PROXIES: '127.0.0.1' },
        ...(codesPerMinute && { SIGN_IN_CODES_PER_MINUTE: codesPerMinute }),
      },
    })
  const mail = startReading(join(folder, 'outbox'))
  const before = await start('1000')
  const owners = await Promise.all(people(before.ready.url, OWNERS, 'owner'))
  await Promise.all(owners.map(owner => signIn(owner, mail)))
  await stopProcess(before.child)

  const { child, ready } = await start()
  const flood = startFlood(ready.url)
  await delay(LEAD_MS)
  const known = owners.slice(0, OWNERS / 2).map(({ email, browser }) => {
    const again = new BrowserClient(ready.url)
    for (const [name, value] of browser.cookies) if (!name.endsWith('session')) again.cookies.set(name, value)
    return { email, browser: again }
  })
  const elsewhere = owners.slice(OWNERS / 2).map(({ email }) => ({ email, browser: new BrowserClient(ready.url) }))
  const newcomers = people(ready.url, NEWCOMERS, 'new')
  const startMs = performance.now()
  const groups = await Promise.all(
    [known, elsewhere, newcomers].map(group => Promise.all(group.map(person => signIn(person, mail)))),
  )
  const requestsPerSecond = ((await flood.stop()) * 1_000) / (performance.now() - startMs + LEAD_MS)
  await mail.stop()
  await stopProcess(child)
  await discard()
  const names = [
    'owners in their browsers, whose addresses were asked for too often',
    'owners in other browsers',
    'new people',
  ]
  return groups.map((times, index) => {
    const done = times.filter(each => each !== undefined)
    return {
      ...{ people: names[index] as string, count: times.length, signedIn: done.length, requestsPerSecond },
      ...{ goal: index < 2 ? times.length : 0.9 * times.length, slowestMs: Math.max(0, ...done) },
    }
  })
}

export const showSignIns = (results: SignIns[]) => {
  console.log(
    `sign-in: people who sign in within a minute while ${NETWORKS + IPV6_NETWORKS} networks request codes without end`,
  )
  for (const { people, count, signedIn, goal, slowestMs } of results) {
    const verdict = signedIn >= goal ? 'reached' : 'MISSED'
    console.log(`  ${people}: ${signedIn} of ${count}, the slowest in ${(slowestMs / 1_000).toFixed(1)} s`)
    console.log(`    goal at least ${goal}, ${verdict}`)
  }
  console.log(`  ${Math.round(results[0]?.requestsPerSecond ?? 0)} requests of the flood in a second`)
}

interface Person {
  email: string
  browser: BrowserClient
}

/** People in new browsers, each in a network of their own. */
const people = (url: string, count: number, kind: string): Person[] =>
  Array.from({ length: count }, (_, index) => ({ email: addressOf(kind)(index), browser: new BrowserClient(url) }))

/** The milliseconds that somebody needs to sign in; undefined if they gave up. */
const signIn = async ({ email, browser }: Person, mail: Mail): Promise<number | undefined> => {
  const startMs = performance.now()
  const isPatient = () => performance.now() < startMs + PATIENCE_MS
  while (isPatient()) {
    const seen = mail.codesFor(email).length
    await browser.post(SIGN_IN, { email })
    const againMs = performance.now() + AGAIN_MS
    while (performance.now() < againMs && isPatient()) {
      await delay(100)
      for (const code of mail.codesFor(email).slice(seen))
        if ((await browser.post(`${SIGN_IN}/code`, { code })).location === '/console')
          return performance.now() - startMs
    }
  }
  return undefined
}

/** Requests codes from each network in turn, for new addresses or those of owners. Resolves to how many at the end. */
const startFlood = (url: string) => {
  let requests = 0
  let isOver = false
  const victims = Array.from({ length: OWNERS / 2 }, (_, index) => addressOf('owner')(index))
  const work = async () => {
    const browser = new BrowserClient(url)
    while (!isOver) {
      const index = requests++
      const network = index % NETWORKS
      const ipv6Network = ((index >> 1) % IPV6_NETWORKS).toString(16)
      const email = index % 9 === 0 ? (victims[(index / 9) % victims.length] as string) : addressOf('flood')(index)
      const ipv4 = `203.${network >> 8}.${network & 255}.${1 + (index % 250)}`
      const forwarded = index % 2 ? `2001:db8:${ipv6Network}::1` : ipv4
      browser.cookies.clear()
      await browser.post(SIGN_IN, { email }, { 'X-Forwarded-For': forwarded })
    }
  }
  const workers = Promise.all(Array.from({ length: WORKERS }, work))
  return {
    stop: async () => {
      isOver = true
      await workers
      return requests
    },
  }
}

type Mail = ReturnType<typeof startReading>

/** Reads the codes in the outbox as they come. */
const startReading = (outbox: string) => {
  const codes = new Map<string, string[]>()
  const read = new Set<string>()
  let isOver = false
  const readNew = async () => {
    for (const name of await readdir(outbox).catch(() => [])) {
      if (read.has(name) || !name.endsWith('.eml')) continue
      read.add(name)
      const message = await readFile(join(outbox, name), 'utf8').catch(() => '')
      const [, to = ''] = /^To: (.*?)\r?$/m.exec(message) ?? []
      codes.set(to, [...(codes.get(to) ?? []), codeIn(message) ?? ''])
    }
  }
  const reading = (async () => {
    while (!isOver) {
      await readNew()
      await delay(100)
    }
  })()
  return {
    codesFor: (email: string): string[] => codes.get(email) ?? [],
    stop: async () => {
      isOver = true
      await reading
    },
  }
}
