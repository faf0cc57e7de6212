import { type Static, Type } from 'typebox'
import { Closed, Uuid } from '../primitives.ts'
import { MAX_TREE_SIZE } from '../proof.ts'
import { about } from './about.ts'
import { RunAddress } from './run.ts'

export const ProofQuery = Closed({
  event: Type.Optional(about(Uuid, 'The ID of an event of the account.', '2c3e4f50-6172-4839-a4b5-c6d7e8f90a1b')),
  run: Type.Optional(RunAddress),
})
export type ProofQuery = Static<typeof ProofQuery>

const SealNumber = Type.Integer({ minimum: 1, maximum: MAX_TREE_SIZE - 2 })

export const ConsistencyQuery = Closed({
  from: about(SealNumber, 'The number of the earlier seal.', 5),
  to: about(SealNumber, 'The number of the later seal.', 12),
})
export type ConsistencyQuery = Static<typeof ConsistencyQuery>
