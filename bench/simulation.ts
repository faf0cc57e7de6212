import { World } from '../test/simulation/world/world.ts'

export interface Simulation {
  worlds: number
  /** Simulated seconds that pass in a second. */
  simulatedPerSecond: number
}

const WORLDS = 40

/** Measures how fast time passes in simulated worlds. */
export const measureSimulation = async (): Promise<Simulation> => {
  const startMs = performance.now()
  let simulatedMs = 0
  for (let seed = 1; seed <= WORLDS; seed++) simulatedMs += (await new World({ seed }).live()).simulatedMs
  return { worlds: WORLDS, simulatedPerSecond: simulatedMs / (performance.now() - startMs) }
}

export const showSimulation = ({ worlds, simulatedPerSecond }: Simulation) => {
  console.log(
    `simulation: ${worlds} simulated worlds\n  ${Math.round(simulatedPerSecond)} s of simulated time in a second`,
  )
}
