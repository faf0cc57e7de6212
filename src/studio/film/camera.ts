import { between, pick, type Random } from '../random.ts'

/** The camera's zoom, and its offset from the centre as a share of the remaining room, from -1 to 1. */
export interface Look {
  zoom: number
  across: number
  down: number
}

/** A slow movement over the length of a film, of which `share` has passed. */
export type Camera = (share: number) => Look

export function chooseCamera(random: Random): Camera {
  const move = pick(random, moves)
  const side = random() < 0.5 ? 1 : -1
  const down = between(random, -0.5, 0.5)
  return share => move(share, side, down)
}

const moves: readonly [Move, ...Move[]] = [
  (share, side, down) => ({ zoom: 1.03 + 0.13 * share, across: side * (0.6 - 0.4 * share), down }),
  (share, side, down) => ({ zoom: 1.16 - 0.13 * share, across: side * (0.2 + 0.4 * share), down }),
  (share, side, down) => ({ zoom: 1.12, across: side * (0.95 - 1.9 * share), down }),
]

type Move = (share: number, side: 1 | -1, down: number) => Look

/** The part of a picture that a look shows. Nearer layers move more, in proportion to `nearness`. */
export function windowOf(size: { width: number; height: number }, look: Look, nearness = 1) {
  const zoom = 1 + (look.zoom - 1) * nearness
  const width = size.width / zoom
  const height = size.height / zoom
  return {
    x: ((size.width - width) * (1 + look.across)) / 2,
    y: ((size.height - height) * (1 + look.down)) / 2,
    width,
    height,
  }
}
