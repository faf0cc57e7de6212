import { unwrap } from '../../support/unwrap.ts'
import { operator } from './callers.ts'
import type { SimulatedClient } from './clients.ts'
import { expectClosedMonth } from './closed-month.ts'
import { SLOTS } from './process.ts'
import { expectSeals } from './seals.ts'
import type { World } from './world.ts'

/** How long runs may take to end once the faults stop: their time limits, a lease, and some retries. */
const RUNS_END_WITHIN_MS = 5 * 60_000

/** How long banks and the reports of the payment service may take. */
const PAYMENTS_END_WITHIN_MS = 5 * 60_000

/** How long everything else may take: longer than any retry that a world can cause. */
const ALL_ENDS_WITHIN_MS = 3 * 3_600_000

const DAY_MS = 24 * 3_600_000

/** Longer than a grant lasts, by any clock, and shorter than most files are kept. */
const AFTER_GRANTS_MS = DAY_MS

/** Longer than any file is kept. */
const AFTER_RETENTION_MS = 40 * DAY_MS

/** How long a process may wait for a provider, and then for the store. */
const LONGEST_CALL_MS = 60_000

/** How long a queued run may wait where clocks differ, which is less than the 30 s that a provider has to answer. */
const SUBMITTED_WITHIN_MS = 25_000

/** How long a lease may outlast its work: its process may have crashed. */
const LEASES_END_WITHIN_MS = 30_000

/** How long a rebuild after a forgery may take: it waits up to 30 s for the next one. */
const REBUILD_MS = 90_000

const CATCH_UP_MS = 5_000

/** Expects that everything ends once the faults have stopped, and that nothing is left behind. */
export const expectCalm = async (world: World, clients: SimulatedClient[]) => {
  await expectEnds(world)
  // A run may have been ended by one process while another still waits for the provider.
  await world.timeline.pass(LONGEST_CALL_MS)
  for (const client of clients) client.expectNonePending()
  await expectFreeSlots(world, clients)
  await expectFreeAsyncSlots(world, clients)
  await expectNoLeases(world)
  await expectAnswers(world, clients)
  await expectFilesEnd(world)
  await expectSales(world, clients)
  await expectClosedMonth(world, () => liveOn(world, clients))
  await expectSeals(world)
  await compareViews(world)
}

const expectEnds = async (world: World) => {
  const { truth, payments } = world
  await expectNone(world, () => truth.openRuns(), RUNS_END_WITHIN_MS)
  await expectNone(world, () => payments.pending(), PAYMENTS_END_WITHIN_MS)
  await expectNone(world, () => truth.pendingDeliveries(), ALL_ENDS_WITHIN_MS)
}

const expectNone = async ({ timeline, violation }: World, left: () => string[], withinMs: number) => {
  const endMs = timeline.nowMs + withinMs
  while (left().length > 0 && timeline.nowMs < endMs) await timeline.pass(1_000)
  for (const rest of left()) violation(rest)
}

/** As many clients as can share the slots of a process. */
const sharers = ({ chance }: World, clients: SimulatedClient[]): SimulatedClient[] => {
  const all = [...clients]
  return Array.from({ length: Math.min(SLOTS, all.length) }, () =>
    all.splice(chance.between(0, all.length - 1), 1),
  ).flat()
}

/** Every process can start as many sync runs at once as it has slots, if they are of different accounts. */
const expectFreeSlots = async (world: World, clients: SimulatedClient[]) => {
  for (const { name, running, startsRuns } of world.processes) {
    if (!running) {
      world.violation(`${name} does not run`)
      continue
    }
    if (!startsRuns) continue
    const started = await Promise.all(sharers(world, clients).map(client => client.startsNow(running)))
    if (started.some(isStarted => !isStarted)) world.violation(`${name} has leaked slots for sync runs`)
  }
  await expectEnds(world)
}

/** Together, the processes can submit as many async runs at once as they have slots. */
const expectFreeAsyncSlots = async (world: World, clients: SimulatedClient[]) => {
  const processes = world.processes.filter(({ startsRuns }) => startsRuns)
  const sharing = sharers(world, clients)
  const short = () =>
    processes.filter(({ running }) => running && running.submissions.openAt('patient') < sharing.length)
  world.provider.isBusy = true
  // An account gets two slots of a process at most, so these are enough wherever they start.
  for (const client of sharing)
    for (let run = 0; run < 2 * processes.length; run++) await client.runOnceMore(world.firstRunning, 'patient')
  await expectNone(
    world,
    () => short().map(({ name }) => `${name} has leaked slots for async runs`),
    SUBMITTED_WITHIN_MS,
  )
  world.provider.isBusy = false
  await expectEnds(world)
}

/** Clocks that jumped make leases that end minutes later. */
const expectNoLeases = (world: World) =>
  world.drawn.clockJump > 0
    ? undefined
    : expectNone(world, () => world.views.leasedAt(world.epochMs + world.timeline.nowMs), LEASES_END_WITHIN_MS)

/** Every process tells every client how things stand. */
const expectAnswers = async (world: World, clients: SimulatedClient[]) => {
  await world.timeline.pass(CATCH_UP_MS)
  for (const process of world.processes) for (const client of clients) await client.expectAnswers(process)
}

/** Lets the grants of uploads end, and then the retention of all files. */
const expectFilesEnd = async (world: World) => {
  const { processes, files } = world
  for (const { name, running } of processes)
    if (running?.objects.arriving) world.violation(`${name} has kept ${running.objects.arriving} incomplete objects`)
  for (const [skippedMs, left] of [
    [AFTER_GRANTS_MS, () => files.open()],
    [AFTER_RETENTION_MS, () => files.kept()],
  ] as const) {
    // As if all processes had been suspended.
    world.epochMs += skippedMs
    await expectNone(world, left, ALL_ENDS_WITHIN_MS)
    files.expectFiles()
  }
}

/** Disputes come after the use and the expiry of credits, and then all purchases end as the payment service says. */
const expectSales = async (world: World, clients: SimulatedClient[]) => {
  const { truth, payments } = world
  for (const client of clients) client.dispute()
  await expectEnds(world)
  await expectNone(world, () => truth.purchases.open(), ALL_ENDS_WITHIN_MS)
  truth.purchases.expectPayments(payments.payments)
  await expectAnswers(world, clients)
}

/** Every client runs a model, and all runs end. */
const liveOn = async (world: World, clients: SimulatedClient[]) => {
  for (const client of clients) await client.runOnceMore(world.firstRunning, 'instant')
  await expectEnds(world)
}

/** The projector reaches the head, and the views are as if rebuilt. */
const compareViews = async (world: World) => {
  const { forged } = world.nemesis
  await world.timeline.pass(forged.size > 0 ? REBUILD_MS : CATCH_UP_MS)
  const { services } = world.firstRunning
  const differences = unwrap(await services.views.verify(operator))
  const { cells } = world.views.content
  const isUnread = (address: string) => forged.has(address) && cells.get(address) === forged.get(address)
  for (const { address, value } of differences.filter(({ address }) => !isUnread(address)).slice(0, 5))
    world.violation(`the views differ at ${address}, which should be ${value}`)
  const head = await world.log.head()
  const reached = (await world.views.checkpoint())?.position
  if (reached !== head) world.violation(`the views are at ${reached}, and the log ends at ${head}`)
}
