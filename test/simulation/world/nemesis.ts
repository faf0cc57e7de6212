import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import type { SimulatedProcess } from './process.ts'
import { type Content, emptyContent } from './view-store.ts'
import type { World } from './world.ts'

/** How often the nemesis acts. */
const ACT_EVERY_MS = 100

/** Longer than a grant for an upload, and all that may follow it. */
const SUSPENSION_MS = 8 * 60_000

/** The longest partition, and the longest time without a process. */
const MAX_OUTAGE_MS = 15_000

/** A power loss undoes the commits since at most so many acts. */
const MAX_UNSYNCED = 5

const HARMS = ['keep', 'keep', 'roll back', 'set back', 'empty', 'forge', 'forge', 'forge', 'forge node'] as const

/** Ends processes, cuts their connections, moves clocks, and damages the views. */
export class Nemesis {
  /** The cells that were forged. They stay until they are read. */
  readonly forged = new Map<string, string>()
  readonly #world: World
  readonly #cuts = new Set<string>()
  #kept: Content | undefined
  /** The views as they were at the last acts, newest first. */
  #unsynced: Content[] = []

  constructor(world: World) {
    this.#world = world
  }

  /** Acts by chance until the faults stop. */
  async act(): Promise<void> {
    const { timeline, chance, processes } = this.#world
    while (!this.#world.isCalm) {
      await timeline.pass(ACT_EVERY_MS)
      const { faults } = this.#world
      const process = chance.pick(processes)
      if (chance.happens(faults.crash)) this.#end(process)
      if (chance.happens(faults.powerLoss)) this.#cutPower()
      if (faults.powerLoss > 0) this.#unsynced = [this.#world.views.content, ...this.#unsynced].slice(0, MAX_UNSYNCED)
      if (chance.happens(faults.clockJump)) {
        process.skewMs += chance.pick([-600_000, -30_000, -3_000, 3_000, 30_000, 600_000])
        this.#note('clock jump', process.name)
      }
      if (chance.happens(faults.suspension)) {
        this.#world.epochMs += SUSPENSION_MS
        this.#note('suspension')
      }
      if (chance.happens(faults.partition)) this.#partition(process)
      if (chance.happens(faults.viewsHarmed)) this.#harmViews()
    }
    this.#cuts.clear()
  }

  /** Whether a connection is cut in a direction. */
  isCut(name: string, direction: 'there' | 'back'): boolean {
    return this.#cuts.has(`${name} ${direction}`)
  }

  /** Whether a row of a view was forged. */
  hasForged(view: string): boolean {
    return [...this.forged.keys()].some(address => address.startsWith(`rows/${view}/`))
  }

  /** Ends a process, which starts again a while later. */
  crash(process: SimulatedProcess) {
    this.#note('crash', process.name)
    process.crash()
    this.#restart(process)
  }

  #end(process: SimulatedProcess) {
    if (!process.isUp) return
    if (!process.running || !this.#world.chance.happens(0.3)) return this.crash(process)
    this.#note('stop', process.name)
    // A crash during the stop restarts it.
    void process.stop().then(() => this.#restart(process))
  }

  #restart(process: SimulatedProcess) {
    const { chance, timeline } = this.#world
    timeline.after(chance.between(0, MAX_OUTAGE_MS), () => void process.start())
  }

  #cutPower() {
    const { processes, views, chance, timeline } = this.#world
    this.#note('power loss')
    for (const process of processes) {
      if (!process.isUp) continue
      process.crash()
      timeline.after(chance.between(0, MAX_OUTAGE_MS), () => void process.start())
    }
    views.content = chance.pick(this.#unsynced) ?? views.content
  }

  #partition(process: SimulatedProcess) {
    const { chance, timeline } = this.#world
    const way = `${process.name}-${chance.pick(['log', 'views', 'objects'])} ${chance.pick(['there', 'back'])}`
    this.#cuts.add(way)
    this.#note('partition', way)
    timeline.after(chance.between(0, MAX_OUTAGE_MS), () => this.#cuts.delete(way))
  }

  #harmViews() {
    const { views, chance } = this.#world
    const harm = chance.pick(HARMS)
    this.#note(`views: ${harm}`)
    if (harm === 'keep') this.#kept = views.content
    if (harm === 'roll back' && this.#kept) views.content = this.#kept
    if (harm === 'set back') this.#setBack()
    if (harm === 'empty') views.content = emptyContent()
    if (harm === 'forge') this.#forge()
    if (harm === 'forge node') this.#forgeNode()
  }

  /** Sets only the checkpoint back. Setting it forward hides events from the projector, which `views verify` finds. */
  #setBack() {
    const { views } = this.#world
    const [now, kept] = [views.content, this.#kept]
    if (!kept || positionOf(kept) >= positionOf(now)) return
    views.content = { ...now, checkpoint: kept.checkpoint }
    // No projector could tell the kept rows from those of now if both came under one checkpoint.
    this.#kept = undefined
  }

  /** Forges a row of any view: they have as many rows as there are runs, or one for an account. */
  #forge() {
    const { views, chance } = this.#world
    const { content } = views
    const rows = [...content.cells.keys()].filter(address => address.startsWith('rows/'))
    const view = chance.pick([...new Set(rows.map(address => address.split('/')[1]))])
    const address = chance.pick(rows.filter(row => row.split('/')[1] === view))
    if (!address) return
    const forged = String(content.cells.get(address)).replaceAll(/\d/g, '7')
    this.forged.set(address, forged)
    content.cells.set(address, forged)
    views.content = content
  }

  /** Forges a node of the tree that seals cover. The sealer makes the tree again from the log. */
  #forgeNode() {
    const { views, chance } = this.#world
    const { content } = views
    const hash = chance.pick([...content.nodes.keys()])
    if (!hash) return
    content.nodes.set(hash, String(content.nodes.get(hash)).replaceAll(/\d/g, '7'))
    views.content = content
  }

  #note(act: string, of = '') {
    this.#world.count(act)
    this.#world.trace(`NEMESIS ${act} ${of}`)
  }
}

/** The position of a store's checkpoint. Emptied views are behind all others. */
const positionOf = ({ checkpoint }: Content): number =>
  checkpoint === undefined ? BEFORE_FIRST : JSON.parse(checkpoint).position
