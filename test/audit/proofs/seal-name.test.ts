import t from 'tap'
import { check as checkText, examine, parseKeys } from '#verify'
import type { ConsistencyProof, InclusionProof, Proof, StatementProof } from '../../../schemas/proof.ts'
import { sealName } from '../../../src/services/seals/seals.ts'
import { forgedProofs, vectorKey, vectorProofs } from '../../support/proof-vectors.ts'

const keys = parseKeys(JSON.stringify(vectorKey.publicKey))
const [proofs, forged] = [await vectorProofs(), await forgedProofs()]

const check = (proof: Proof | undefined, name?: string) => checkText(JSON.stringify(proof), keys, name)
const sealsOf = (proof: Proof | undefined) => examine(JSON.stringify(proof), keys).seals

const inclusion = proofs['inclusion'] as InclusionProof
const name = sealName(JSON.parse(inclusion.seal.dataText))
const forgedLink = `3:${(forged['forged-inclusion'] as InclusionProof).seal.link}`

t.test('the name of a seal is that of what it signs, whatever its link', async t => {
  for (const [one, other] of [
    ['forged-inclusion', 'inclusion'],
    ['forged-consistency-later', 'consistency'],
    ['forged-statement', 'statement-part'],
  ] as const) {
    const [wrong, right] = [sealsOf(forged[one]), sealsOf(proofs[other])]
    t.same(
      wrong.map(({ name }) => name),
      right.map(({ name }) => name),
      one,
    )
    t.notSame(
      wrong.map(({ link }) => link),
      right.map(({ link }) => link),
      one,
    )
  }
  t.equal(sealsOf(inclusion)[0]?.name, name, 'as the service names it')
  const earlier = forged['forged-consistency-earlier'] as ConsistencyProof
  t.throws(() => check(earlier), { message: 'seal 3 does not cover seal 1' })
})

t.test('a kept name finds its seal under any link, and an old one only under its own', async t => {
  const statement = proofs['statement-part'] as StatementProof
  for (const proof of [inclusion, statement, forged['forged-inclusion']]) t.ok(check(proof, name))
  t.ok(check(inclusion, `3:${inclusion.seal.link}`))
  t.ok(check(forged['forged-inclusion'], forgedLink))
  const caveat = /^it is about seal 3:sha256-\w+, and not about .*; no signature covers such an old name/
  t.throws(() => check(inclusion, forgedLink), { message: caveat })
  t.throws(
    () =>
      check(
        inclusion,
        name.replace(/.$/, last => (last === '0' ? '1' : '0')),
      ),
    { message: /was kept$/ },
  )
})
