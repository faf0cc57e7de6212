import type { ConsistencyProof, InclusionProof } from '../proof.ts'

// The proofs of `docs/verify/examples`. Members are in the order of canonical JSON.

export const inclusionProof: InclusionProof = {
  format: 'tollgate-proof',
  version: 1,
  kind: 'inclusion',
  event: {
    revision: 2,
    previous: 'c11a72a3b2d3c6cbe095ce86ea99761aeac1863426d17709ab75e96d8d56a9fd',
    linkText: JSON.stringify({
      data: {
        amountMicros: 16500000,
        balanceAfterMicros: 83500000,
        receipt: {
          catalogRevision: 0,
          endpoint: 'nano-banana-2-t2i',
          lines: [
            { amountMicros: 10000000, kind: 'base' },
            { kind: 'quantity', parameter: 'num_images', value: 1 },
            { factorMicros: 1500000, kind: 'multiplier', parameter: 'resolution', value: '2K' },
            {
              amountMicros: 1500000,
              kind: 'surcharge',
              parameter: 'enable_web_search',
              usdMicros: 15000,
              usdPerCreditMicros: 10000,
            },
          ],
          model: 'nano-banana-2',
          totalMicros: 16500000,
        },
        runId: 'run_01m820ba3afvgrrk8mqkecp7h5',
      },
      metadata: {
        actor: { keyId: 'key_01m820ba07fvgrrk7w4esdp1qc', kind: 'key' },
        at: '2026-11-22T16:10:10.387Z',
        requestId: '069515a6-bf0d-4440-9f92-2b9c3f53d7ef',
      },
      type: 'CreditsDebited',
    }),
    path: [
      'b956e50d00de834adc7430b81c78ff79dd93b5d3c4e4b91d5da332fce68bf534',
      '72863d5370be2fa6b4b70ccd16ca42c829127276074dddf889b852bf0a7db68f',
      '893854d350a52df27915264cf640bfa1154f4d245fdb97132ca3f0c7c56981af',
    ],
  },
  leaf: {
    stream: 'account-acct_01m820b9ztfvgrrk74p12fwn4g',
    revision: 6,
    head: '5c7fb74efc5deaae4557e0df0b6f6030360724b32cd77d8c3b8c18994ba8268b',
    links: 'c5c78ce851a59259c423b807e68f1e7062ffcb051819f044ac87af46d1eec652',
    path: [{ bit: 0, sibling: 'f684c7d68a9c2ee590673147a60e6d235e153629dca36cfc92bbb69115817e60' }],
  },
  seal: {
    previous: '131a5b58ca45f867b82123ac29c9a1b9e103d98d969d55599c138c1f67cc3bf9',
    linkText: JSON.stringify({
      data: 'b20f949c0c59eae0c3aa0a6f3f4fde833da7a9c5e8a7d7f11dbf40936523eaff',
      format: 2,
      id: '00000000-0000-4000-8000-000000000016',
      metadata: '46b353daf3f2656f8bcdf29fd60f1e07fbc1de6e1947002ba1db2dcce3f20197',
      revision: 3,
      stream: 'seals',
      type: 'LogSealed',
    }),
    dataText: JSON.stringify({
      at: '2026-11-22T16:20:00.000Z',
      earlier: '6539894caad2df80f82978f5e9e9a6c0fe5a5eeb6ebc4efd1cd85a5f67b53193',
      events: 13,
      keyId: 'SNgD-xBgomE1ztohW_QJa6wdM1bQbYE28BsEk38zthc',
      number: 3,
      position: 15,
      previous: '131a5b58ca45f867b82123ac29c9a1b9e103d98d969d55599c138c1f67cc3bf9',
      root: 'f5f688c793466bd838453210095db172b1b552938fc53087c0dc58f919ecf1d7',
      signature: 'LJ-ZPsstQkQNGUCzX0PJ6zxb3oNSQwvLmj7vEo98HWSxiUwH9aKfhx2Bmzp2YsJJaw5cBRkJ5uVFdbK1jDqoBg',
      streams: 3,
    }),
    metadataText: JSON.stringify({ actor: { kind: 'service' }, at: '2026-11-22T16:10:00.000Z', format: 2 }),
    link: '24507e45eedc4f5124f468daf345b49b809e88fe8598ab4e3720645dc900bbdd',
  },
}

export const consistencyProof: ConsistencyProof = {
  format: 'tollgate-proof',
  version: 1,
  kind: 'consistency',
  earlier: {
    previous: '29140d81744bb475aa0643ecf1f1df1c1eac509fd864a606038ce9274406d579',
    linkText: JSON.stringify({
      data: 'f74ed16a4ac2ad4cca207a509fbb73bbcb49d6cc2349c38cf61d38cb0d91d68d',
      format: 2,
      id: '00000000-0000-4000-8000-000000000006',
      metadata: '46b353daf3f2656f8bcdf29fd60f1e07fbc1de6e1947002ba1db2dcce3f20197',
      revision: 1,
      stream: 'seals',
      type: 'LogSealed',
    }),
    dataText: JSON.stringify({
      at: '2026-11-22T16:20:00.000Z',
      earlier: '4917961c26140bc6c7a7aadc9ed3b65f4fdc5de9cce13420873a8db13bef5bef',
      events: 5,
      keyId: 'SNgD-xBgomE1ztohW_QJa6wdM1bQbYE28BsEk38zthc',
      number: 1,
      position: 5,
      previous: '29140d81744bb475aa0643ecf1f1df1c1eac509fd864a606038ce9274406d579',
      root: 'ced03f08789c57807bf68715762081b5368630618395260f60fcbaa766f04413',
      signature: 'XuruuqQcD06siCnx6oBQ9axW3dgpn5tfG7tPeeRIo_IH_BUU24so2SMPgB7VVQyydmOd6YzgX9TNVT32cCW-Cw',
      streams: 2,
    }),
    metadataText: JSON.stringify({ actor: { kind: 'service' }, at: '2026-11-22T16:10:00.000Z', format: 2 }),
    link: '1fcd55aa28d0f7d77c5633880e5899aedd59f703463d350729480fd6b3bf537c',
  },
  later: {
    previous: '131a5b58ca45f867b82123ac29c9a1b9e103d98d969d55599c138c1f67cc3bf9',
    linkText: JSON.stringify({
      data: 'b20f949c0c59eae0c3aa0a6f3f4fde833da7a9c5e8a7d7f11dbf40936523eaff',
      format: 2,
      id: '00000000-0000-4000-8000-000000000016',
      metadata: '46b353daf3f2656f8bcdf29fd60f1e07fbc1de6e1947002ba1db2dcce3f20197',
      revision: 3,
      stream: 'seals',
      type: 'LogSealed',
    }),
    dataText: JSON.stringify({
      at: '2026-11-22T16:20:00.000Z',
      earlier: '6539894caad2df80f82978f5e9e9a6c0fe5a5eeb6ebc4efd1cd85a5f67b53193',
      events: 13,
      keyId: 'SNgD-xBgomE1ztohW_QJa6wdM1bQbYE28BsEk38zthc',
      number: 3,
      position: 15,
      previous: '131a5b58ca45f867b82123ac29c9a1b9e103d98d969d55599c138c1f67cc3bf9',
      root: 'f5f688c793466bd838453210095db172b1b552938fc53087c0dc58f919ecf1d7',
      signature: 'LJ-ZPsstQkQNGUCzX0PJ6zxb3oNSQwvLmj7vEo98HWSxiUwH9aKfhx2Bmzp2YsJJaw5cBRkJ5uVFdbK1jDqoBg',
      streams: 3,
    }),
    metadataText: JSON.stringify({ actor: { kind: 'service' }, at: '2026-11-22T16:10:00.000Z', format: 2 }),
    link: '24507e45eedc4f5124f468daf345b49b809e88fe8598ab4e3720645dc900bbdd',
  },
  inclusion: [
    '4917961c26140bc6c7a7aadc9ed3b65f4fdc5de9cce13420873a8db13bef5bef',
    '41ec03f9ac59f6799ea63c28012bb295d6600fad8178818a3e47ff1b88598087',
  ],
  consistency: [
    '9503813db239156d4b75e3ccf918edeced9df78063668c8a1ed56f16627fcb11',
    '41ec03f9ac59f6799ea63c28012bb295d6600fad8178818a3e47ff1b88598087',
  ],
}
