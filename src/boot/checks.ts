import { randomBytes, X509Certificate } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { access, readFile, stat, statfs } from 'node:fs/promises'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { connect } from 'node:tls'
import { SEALS_STREAM } from '../../schemas/events.ts'
import type { SealKeyAdopted } from '../../schemas/seal-events.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { FILE_RESERVE_BYTES, LOG_RESERVE_BYTES, megabytes } from '../adapters/free-space.ts'
import { lastEvent } from '../audit/read-log.ts'
import { BEFORE_FIRST, type ReadableLog } from '../ports/event-log.ts'
import type { Logger } from '../ports/logger.ts'
import { PaymentRefused, PaymentsMisconfigured } from '../ports/payments.ts'
import { isDamaged, MAX_CLOCK_SKEW_MS } from '../ports/view-store.ts'
import { Addresses } from '../services/files/addresses.ts'
import { expectSealKey } from '../services/seals/seal-stream.ts'
import { withinTime } from '../time/timers.ts'
import { type Config, ConfigError, publicUrlOf } from './config.ts'
import { lostMasterSecret, readMasterSecret } from './master-secret.ts'
import { expectDataDir, explainFailure, wrongDataDir } from './process.ts'
import { readSealKeys } from './sealing.ts'
import { expectLog, openLogReadOnly, openMailer, openObjects, openPayments, openViews } from './stores.ts'

/** What a check found, and what to do about it. */
export interface Finding {
  state: 'ok' | 'warning' | 'fault'
  text: string
}

/** Longer than any store or provider that works takes. */
const CHECK_MS = 30_000

/**
 * Checks a configuration and what it names, part by part. None changes a store, except that the object store gets and
 * deletes a probe.
 */
export async function* check(
  config: Config,
  { mailTo }: { mailTo?: string | undefined },
): AsyncGenerator<[part: string, Finding[]]> {
  const parts: Record<string, () => Promise<Finding[]>> = {
    configuration: async () => [ok('valid')],
    files: () => checkFiles(config),
    room: () => checkRoom(config),
    log: () => checkLog(config),
    secrets: () => checkSecrets(config),
    views: () => checkViews(config),
    objects: () => checkObjects(config),
    certificates: () => checkCertificates(config),
    mail: () => checkMail(config, mailTo),
    payments: () => checkPayments(config),
    providers: () => checkProviders(config),
  }
  for (const [part, work] of Object.entries(parts)) {
    yield [part, await within(work)]
    // Other checks would create the folder, or files in it.
    if (part === 'files' && wrongDataDir(config) !== undefined) return
  }
}

/** A check that throws has found a fault. */
const within = async (work: () => Promise<Finding[]>): Promise<Finding[]> => {
  const tooLate = () => [fault(`no answer within ${CHECK_MS / 1000} s`)]
  try {
    return await withinTime(systemClock, work(), CHECK_MS, tooLate)
  } catch (error) {
    return [fault(error instanceof ConfigError ? error.message : explainFailure(error))]
  }
}

const ok = (text: string): Finding => ({ state: 'ok', text })
const warning = (text: string): Finding => ({ state: 'warning', text })
const fault = (text: string): Finding => ({ state: 'fault', text })

/** The folder of the data must be the service's own, and so must the files with secrets. */
const checkFiles = async (config: Config): Promise<Finding[]> => {
  expectDataDir(config)
  const { dataDir } = config
  if (!existsSync(dataDir)) return [ok('no DATA_DIR, and none is needed')]
  const found: Finding[] = []
  await access(dataDir, constants.R_OK | constants.W_OK).catch(({ code, message }) => {
    found.push(fault(`${message}; ${code === 'EROFS' ? REMOUNT : GIVE_ACCESS}`))
  })
  const { key, previousKeyFile } = config.seals
  const paths = [
    dataDir,
    ...(config.masterSecret.kind === 'file' ? [config.masterSecret.path] : []),
    ...(key.kind === 'given' ? [] : [key.path]),
    ...(previousKeyFile === undefined ? [] : [previousKeyFile]),
  ]
  for (const path of paths.filter(each => existsSync(each))) {
    const { mode } = await stat(path)
    if (mode & 0o077) found.push(warning(`other users can open ${path}; run "chmod go= ${path}"`))
  }
  return found.length > 0 ? found : [ok(`${resolve(dataDir)} is writable and private`)]
}

const GIVE_ACCESS = 'run the command as the user of the service, or give the folder to that user'
const REMOUNT = 'see why the system made the disk read-only, and mount it for writing'

const checkRoom = async ({ dataDir, eventStore, objectStore }: Config): Promise<Finding[]> => {
  const folders = new Set([
    ...(eventStore.kind === 'lmdb' ? [eventStore.folder] : []),
    ...(objectStore.kind === 'disk' ? [objectStore.folder] : []),
    dataDir,
  ])
  const found: Finding[] = []
  for (const folder of [...folders].filter(each => existsSync(each))) {
    const { bavail, bsize } = await statfs(folder)
    const text = `${megabytes(bavail * bsize)} free for ${folder}`
    if (bavail * bsize >= FILE_RESERVE_BYTES) found.push(ok(text))
    else found.push(fault(`${text}; below ${megabytes(FILE_RESERVE_BYTES)}, no file is stored, and below ${LOG_ROOM}`))
  }
  return found
}

const LOG_ROOM = `${megabytes(LOG_RESERVE_BYTES)}, no event; free some room`

/** Reads the newest event, and compares its time with the clock of this machine. */
const checkLog = async (config: Config): Promise<Finding[]> => {
  expectLog(config)
  if (config.eventStore.kind === 'lmdb' && !existsSync(config.eventStore.folder))
    return [fault(`${config.eventStore.folder} does not exist; start the service, or restore a backup`)]
  const { log } = await openLogReadOnly(config)
  try {
    const last = await lastEvent(log)
    if (!last) return [warning('the log is empty; check DATA_DIR and EVENT_STORE_URL')]
    const { at } = last.metadata as { at: string }
    const aheadMs = Date.parse(at) - Date.now()
    return [
      ok(`the newest event is of ${at}, at position ${last.position}`),
      aheadMs > MAX_CLOCK_SKEW_MS
        ? fault(`the clock of this machine is ${seconds(aheadMs)} behind the newest event; ${SET_TIME}`)
        : ok('the clock is not behind the newest event'),
    ]
  } finally {
    await log.close()
  }
}

/** The next start makes the secrets that are missing, and these do not fit the log. */
const checkSecrets = async (config: Config): Promise<Finding[]> => {
  const { masterSecret, seals } = config
  // The check of the log says why it cannot be read.
  const { log } = (await openLogReadOnly(config).catch(() => undefined)) ?? {}
  if (!log) return []
  try {
    if ((await log.head()) === BEFORE_FIRST) return []
    const isMade = masterSecret.kind === 'given' || existsSync(masterSecret.path)
    return [
      isMade ? ok('the master secret is there') : fault(lostMasterSecret(masterSecret.path)),
      await checkSealKey(seals, await sealKeyOf(log)),
    ]
  } finally {
    await log.close()
  }
}

/** The ID of the key that the log's next seal needs; undefined if the log has no seal. */
const sealKeyOf = async (log: ReadableLog): Promise<string | undefined> => {
  let keyId: string | undefined
  for await (const page of log.readStream(SEALS_STREAM, 0))
    for (const { type, data } of page) if (type === 'SealKeyAdopted') keyId = (data as SealKeyAdopted).keyId
  return keyId
}

const checkSealKey = (seals: Config['seals'], adoptedId: string | undefined): Finding => {
  if (adoptedId === undefined) return ok('the log has no seal yet')
  if (seals.key.kind === 'development' && !existsSync(seals.key.path))
    return fault(`${seals.key.path} is missing, and the log is sealed with it; restore it, or set SEAL_KEY_FILE`)
  const { key, previousKey } = readSealKeys(seals)
  try {
    expectSealKey(adoptedId, key, previousKey)
    return ok('the key of the seals is that of the log')
  } catch (error) {
    return fault((error as Error).message)
  }
}

const SET_TIME = 'set the time, for example by NTP'

const seconds = (ms: number): string => `${Math.round(Math.abs(ms) / 1000).toLocaleString('en')} s`

const checkViews = async (config: Config): Promise<Finding[]> => {
  const { viewStore } = config
  if (viewStore.kind === 'lmdb' && !existsSync(viewStore.folder))
    return [warning(`${viewStore.folder} does not exist; the service makes the views when it starts`)]
  const warnings: Finding[] = []
  const logger = collect(warnings)
  const views = await openViews(config, logger, 'unless in use')
  try {
    const checkpoint = await views.checkpoint()
    const clock = viewStore.kind === 'redis' ? await redisClock(viewStore.address) : []
    if (!checkpoint)
      return [...warnings, ...clock, warning('the views are empty; the service makes them when it starts')]
    if (isDamaged(checkpoint)) return [fault('the views are damaged; run "tollgate views rebuild"')]
    return [...warnings, ...clock, ok(`the views show the log up to position ${checkpoint.position}`)]
  } finally {
    await views.close()
  }
}

/** Leases in Redis hold only while the clocks agree. */
const redisClock = async (address: Extract<Config['viewStore'], { kind: 'redis' }>['address']): Promise<Finding[]> => {
  const { openRedis } = await import('../adapters/redis/client.ts')
  const { client } = openRedis(address, { commandMs: 2_000 })
  try {
    await client.connect()
    const [serverSeconds] = await client.time()
    const apartMs = Date.now() - Number(serverSeconds) * 1000
    return Math.abs(apartMs) > MAX_CLOCK_SKEW_MS
      ? [fault(`the clocks of this machine and of Redis are ${seconds(apartMs)} apart; ${SET_TIME}`)]
      : [ok('the clock of Redis agrees')]
  } finally {
    client.disconnect()
  }
}

const checkObjects = async (config: Config): Promise<Finding[]> => {
  const { objectStore, masterSecret } = config
  if (objectStore.kind === 'disk' && !existsSync(objectStore.folder))
    return [ok(`${objectStore.folder} does not exist; the service makes it when it starts`)]
  const warnings: Finding[] = []
  const addresses = new Addresses(() => publicUrlOf(config, config.port), config.cdnUrl)
  const objects = await openObjects(config, collect(warnings), addresses, anySecret(masterSecret))
  try {
    await objects.check()
    return [...warnings, ok('files can be stored')]
  } finally {
    await objects.close()
  }
}

/** No check needs the secret of the log, and none may make it. */
const anySecret = (source: Config['masterSecret']): string =>
  source.kind === 'file' && !existsSync(source.path) ? randomBytes(32).toString('hex') : readMasterSecret(source)

/** Warnings of the stores, which have an error with the details. */
const collect = (warnings: Finding[]): Logger => {
  const ignore = () => undefined
  const warn = (facts: object, message: string) => {
    const { err } = facts as { err?: Error }
    warnings.push(warning(err ? `${message}: ${err.message}` : message))
  }
  return { isLevelEnabled: () => false, debug: ignore, info: ignore, warn, error: warn, fatal: warn }
}

/** Most certificates live for 90 days, and are renewed 30 days before their end. */
const EXPIRY_WARNING_MS = 14 * 24 * 60 * 60 * 1000

const checkCertificates = async (config: Config): Promise<Finding[]> => {
  const servers = serversOf(config)
  const files = certificateFilesOf(config)
  if (servers.length + files.length === 0) return [ok('no address uses TLS')]
  return Promise.all([
    ...servers.map(async server => {
      const name = `${server.host}:${server.port}`
      try {
        return judged(name, await certificateOf(server))
      } catch (error) {
        return fault(`${name} cannot be reached: ${(error as Error).message}`)
      }
    }),
    ...files.map(async path => judged(path, new X509Certificate(await readFile(path)).validTo)),
  ])
}

const judged = (name: string, validTo: string): Finding => {
  const leftMs = Date.parse(validTo) - Date.now()
  const until = new Date(validTo).toISOString().slice(0, 10)
  if (leftMs <= 0) return fault(`the certificate of ${name} expired on ${until}; renew it`)
  const text = `the certificate of ${name} is valid until ${until}`
  return leftMs < EXPIRY_WARNING_MS ? warning(`${text}; renew it`) : ok(text)
}

interface Server {
  host: string
  port: number
}

/** The servers with a certificate that the service or its clients meet. */
const serversOf = ({ publicUrl, eventStore, viewStore, objectStore, mail }: Config): Server[] => {
  const ofUrl = (text: string, protocol: string, defaultPort: number): Server[] => {
    const url = new URL(text)
    return url.protocol === protocol ? [{ host: url.hostname, port: Number(url.port || defaultPort) }] : []
  }
  return [
    ...(publicUrl === undefined ? [] : ofUrl(publicUrl, 'https:', 443)),
    ...(eventStore.kind === 'eventstoredb' && eventStore.address.tls ? eventStore.address.seeds : []),
    ...(viewStore.kind === 'redis' && viewStore.address.tls ? [viewStore.address] : []),
    ...(objectStore.kind === 's3' && objectStore.tls
      ? [{ host: objectStore.host, port: objectStore.port ?? 443 }]
      : []),
    ...(mail.kind === 'smtp' ? ofUrl(mail.url, 'smtps:', 465) : []),
  ]
}

const certificateFilesOf = ({ eventStore }: Config): string[] => {
  if (eventStore.kind !== 'eventstoredb') return []
  const { caFile, certFile } = eventStore.address.tls ?? {}
  return [caFile, certFile].filter(path => path !== undefined)
}

const CONNECT_MS = 5_000

/** The end of a server's certificate. Whether it is trusted is for the clients of the server to judge. */
const certificateOf = ({ host, port }: Server): Promise<string> =>
  new Promise((resolve, reject) => {
    const name = isIP(host) ? {} : { servername: host }
    const socket = connect({ host, port, ...name, rejectUnauthorized: false, timeout: CONNECT_MS }, () => {
      resolve(socket.getPeerCertificate().valid_to)
      socket.destroy()
    })
    socket.once('timeout', () => socket.destroy(new Error(`no answer within ${CONNECT_MS / 1000} s`)))
    socket.once('error', reject)
  })

const checkMail = async (config: Config, to: string | undefined): Promise<Finding[]> => {
  if (config.mail.kind === 'outbox' && to === undefined)
    return [warning(`SMTP_URL is not set, so mail is written to ${config.mail.folder}`)]
  if (to === undefined) return [ok('not tried; --mail ADDRESS sends a message')]
  const mailer = await openMailer(config)
  try {
    const text = `This message from "tollgate doctor" shows that mail of ${config.brand.name} arrives.\n`
    await mailer.send({ to, subject: 'Tollgate can send mail', text })
    return [ok(mailer.folder === undefined ? `a message went to ${to}` : `the message is in ${mailer.folder}`)]
  } finally {
    mailer.close()
  }
}

const checkPayments = async (config: Config): Promise<Finding[]> => {
  const payments = await openPayments(config)
  if (!payments) return [ok('STRIPE_SECRET_KEY is not set, so nothing is sold')]
  try {
    await payments.check()
    return payments.isTest && config.providers.length > 0
      ? [warning('Stripe takes STRIPE_SECRET_KEY, in test mode: test cards buy credits for which providers charge you')]
      : [ok('Stripe takes STRIPE_SECRET_KEY')]
  } catch (error) {
    if (!(error instanceof PaymentsMisconfigured || error instanceof PaymentRefused)) throw error
    return [fault(error.message)]
  }
}

const checkProviders = async (config: Config): Promise<Finding[]> => {
  if (config.providers.length === 0) return [warning('no provider has a key, so the sandbox makes samples')]
  const { checkVendorAccounts } = await import('./providers.ts')
  const checked = await checkVendorAccounts({ config, masterSecret: anySecret(config.masterSecret) })
  return checked.map(({ provider, account, fault: reason }) =>
    reason === undefined
      ? ok(`${provider} ${account} works`)
      : fault(`${provider} ${account} does not work: ${reason}`),
  )
}
