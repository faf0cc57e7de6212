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
      'f76e2220044ef5e5ca9a8241b33a7d7753d67490bde8a1c42a0e832563b4a00f',
    ],
  },
  leaf: {
    stream: 'account-acct_01m820b9ztfvgrrk74p12fwn4g',
    revision: 6,
    head: '64ddfc9e3b70f1d91fcccd2caae7724e1cf3733e690557fdd8375fbf2358cd07',
    links: 'af498613fa98347e37babd28e30b56d1a50e7c98e7fe010aa4cd811e83a80c81',
    path: [{ bit: 0, sibling: 'f684c7d68a9c2ee590673147a60e6d235e153629dca36cfc92bbb69115817e60' }],
  },
  seal: {
    previous: 'ae0600b290dc4063aa4d57d53830c3517ff525646c9e9a2f3273a2bafab93a44',
    linkText: JSON.stringify({
      data: 'cae5ba70654d5bec958185e2e7784bbcbabfa537af41ffea16f8ce5a503ccebd',
      format: 2,
      id: '00000000-0000-4000-8000-000000000016',
      metadata: '46b353daf3f2656f8bcdf29fd60f1e07fbc1de6e1947002ba1db2dcce3f20197',
      revision: 3,
      stream: 'seals',
      type: 'LogSealed',
    }),
    dataText: JSON.stringify({
      at: '2026-11-22T16:20:00.000Z',
      earlier: 'd40a2ac02e1078ba98446096eb29d78cfa59049d6dbda94815e4dac569ce638a',
      events: 13,
      keyId: 'SNgD-xBgomE1ztohW_QJa6wdM1bQbYE28BsEk38zthc',
      number: 3,
      position: 15,
      previous: 'ae0600b290dc4063aa4d57d53830c3517ff525646c9e9a2f3273a2bafab93a44',
      root: '07a627d6abe4fc915a6b9eeccb7989e1c32ce6411be60e4eb1bf07687ce0370e',
      signature: 'xOPOjFwlL05lgYx3Cl1xIBfzJH7zXk0JwJoOCQ7p2SZkrh4AgROItWJ6hAFWe25N5VvGIXMjw9EtUUQUTnGhBA',
      streams: 3,
    }),
    metadataText: JSON.stringify({ actor: { kind: 'service' }, at: '2026-11-22T16:10:00.000Z', format: 2 }),
    link: 'e502458b75196d3cae4a6c0dc16ff5b064bd8f3f3fc60f1cf445420242b69f66',
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
    previous: 'ae0600b290dc4063aa4d57d53830c3517ff525646c9e9a2f3273a2bafab93a44',
    linkText: JSON.stringify({
      data: 'cae5ba70654d5bec958185e2e7784bbcbabfa537af41ffea16f8ce5a503ccebd',
      format: 2,
      id: '00000000-0000-4000-8000-000000000016',
      metadata: '46b353daf3f2656f8bcdf29fd60f1e07fbc1de6e1947002ba1db2dcce3f20197',
      revision: 3,
      stream: 'seals',
      type: 'LogSealed',
    }),
    dataText: JSON.stringify({
      at: '2026-11-22T16:20:00.000Z',
      earlier: 'd40a2ac02e1078ba98446096eb29d78cfa59049d6dbda94815e4dac569ce638a',
      events: 13,
      keyId: 'SNgD-xBgomE1ztohW_QJa6wdM1bQbYE28BsEk38zthc',
      number: 3,
      position: 15,
      previous: 'ae0600b290dc4063aa4d57d53830c3517ff525646c9e9a2f3273a2bafab93a44',
      root: '07a627d6abe4fc915a6b9eeccb7989e1c32ce6411be60e4eb1bf07687ce0370e',
      signature: 'xOPOjFwlL05lgYx3Cl1xIBfzJH7zXk0JwJoOCQ7p2SZkrh4AgROItWJ6hAFWe25N5VvGIXMjw9EtUUQUTnGhBA',
      streams: 3,
    }),
    metadataText: JSON.stringify({ actor: { kind: 'service' }, at: '2026-11-22T16:10:00.000Z', format: 2 }),
    link: 'e502458b75196d3cae4a6c0dc16ff5b064bd8f3f3fc60f1cf445420242b69f66',
  },
  inclusion: [
    '4917961c26140bc6c7a7aadc9ed3b65f4fdc5de9cce13420873a8db13bef5bef',
    '22bf9f54a8eaea55a58a646065a4b5f64ca5c0d7b9f2e23818bbc9ff40e290de',
  ],
  consistency: [
    '9503813db239156d4b75e3ccf918edeced9df78063668c8a1ed56f16627fcb11',
    '22bf9f54a8eaea55a58a646065a4b5f64ca5c0d7b9f2e23818bbc9ff40e290de',
  ],
}
