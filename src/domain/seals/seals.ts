import type { LogSealed, SealEvent, SealKeyAdopted } from '../../../schemas/seal-events.ts'
import { accept, type Decider, unreachable } from '../decider.ts'
import { emptyLogTree, type LogTree, withLink } from './log-tree.ts'

/** Both are complete and signed for a state of the stream, and refused in any other. */
export type SealCommand = { type: 'AdoptKey'; key: SealKeyAdopted; number: number } | { type: 'Seal'; seal: LogSealed }

export interface SealsState {
  /** The tree over the links of the stream. Its size is the number of the next event. */
  links: LogTree
  /** The link of the last event. */
  head: string | undefined
  /** All keys so far, the present one last. */
  keys: readonly SealKeyAdopted[]
  key: SealKeyAdopted | undefined
  /** The last seal, and its link. */
  seal: LogSealed | undefined
  sealLink: string | undefined
}

/** Another process was first. */
export interface Outdated {
  code: 'seal_outdated'
}

/** The history of the log's seals: the signing keys, and the commitment of each seal. */
export const seals: Decider<SealCommand, SealsState, SealEvent, Outdated> = {
  initial: { links: emptyLogTree, head: undefined, keys: [], key: undefined, seal: undefined, sealLink: undefined },
  decide: (command, { links, head }) => {
    switch (command.type) {
      case 'AdoptKey':
        return command.number === links.size ? accept([{ type: 'SealKeyAdopted', data: command.key }]) : outdated
      case 'Seal': {
        const { number, previous } = command.seal
        const isNext = number === links.size && previous === head
        return isNext ? accept([{ type: 'LogSealed', data: command.seal }]) : outdated
      }
      default:
        return unreachable(command)
    }
  },
  evolve: (state, event) => {
    const { hash = '' } = event.metadata
    const next = { ...state, links: withLink(state.links, hash), head: hash }
    return event.type === 'LogSealed'
      ? { ...next, seal: event.data, sealLink: hash }
      : { ...next, key: event.data, keys: [...state.keys, event.data] }
  },
}

const outdated: { refuse: Outdated } = { refuse: { code: 'seal_outdated' } }
