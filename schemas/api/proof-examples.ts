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
    previous: '4096ab6fc6dcdb7b9e1bd63c592973ca9b66a56b372efe31050dff854dd06289',
    linkText: JSON.stringify({
      data: 'e0233b9616f07ab2cfcf16b67ee65fdbe6818e7ed1019d17e5b33a0adc8681be',
      format: 2,
      id: '00000000-0000-4000-8000-000000000016',
      metadata: '46b353daf3f2656f8bcdf29fd60f1e07fbc1de6e1947002ba1db2dcce3f20197',
      revision: 3,
      stream: 'seals',
      type: 'LogSealed',
    }),
    dataText: JSON.stringify({
      at: '2026-11-22T16:20:00.000Z',
      earlier: 'c60aadb5591fe1bdedbdf866c9dae19f7d5d8d28f33e0308730cc1617bf54674',
      events: 13,
      keyId: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
      number: 3,
      position: 15,
      previous: '4096ab6fc6dcdb7b9e1bd63c592973ca9b66a56b372efe31050dff854dd06289',
      root: '07a627d6abe4fc915a6b9eeccb7989e1c32ce6411be60e4eb1bf07687ce0370e',
      signature: 'Hkr_itOzU0l57xElKv8Icfo03jeWxMogMDkWXW0OW1xnyEXVM-ofFWx-hA_Eg7gwYTPJqvjRm8g36m7yokW7DQ',
      streams: 3,
    }),
    metadataText: JSON.stringify({ actor: { kind: 'service' }, at: '2026-11-22T16:10:00.000Z', format: 2 }),
    link: '5ea05f4f22b1fcd9e000cdb54d55a6147f0505c5c633e79d1a6976fefc806c3e',
  },
}

export const consistencyProof: ConsistencyProof = {
  format: 'tollgate-proof',
  version: 1,
  kind: 'consistency',
  earlier: {
    previous: 'f58d70d1f00007109cc58a87d4fb7112e872a7e09aa127b80699c2865309601b',
    linkText: JSON.stringify({
      data: '75c9f46210d3bd902e17bec50e5377279ad507034bdbc1fca22559f0c814811e',
      format: 2,
      id: '00000000-0000-4000-8000-000000000006',
      metadata: '46b353daf3f2656f8bcdf29fd60f1e07fbc1de6e1947002ba1db2dcce3f20197',
      revision: 1,
      stream: 'seals',
      type: 'LogSealed',
    }),
    dataText: JSON.stringify({
      at: '2026-11-22T16:20:00.000Z',
      earlier: '7eaf3a6de90b1764960ad95f124f2a7ece6a066a260fa8153c133ad858a1d1de',
      events: 5,
      keyId: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
      number: 1,
      position: 5,
      previous: 'f58d70d1f00007109cc58a87d4fb7112e872a7e09aa127b80699c2865309601b',
      root: 'ced03f08789c57807bf68715762081b5368630618395260f60fcbaa766f04413',
      signature: 'pP-QV3Mfxry21RiwNOB4o9evGo5FsGLUi1L-1bKmlx2k16IlLtxoyd7SUGiC1BVVUCVb59wPCE47zJSIT9P5DQ',
      streams: 2,
    }),
    metadataText: JSON.stringify({ actor: { kind: 'service' }, at: '2026-11-22T16:10:00.000Z', format: 2 }),
    link: '43adf212328b23dd23e6bd0c0ccc8a66586b3822b8d6dd01c275ef5622ef001f',
  },
  later: {
    previous: '4096ab6fc6dcdb7b9e1bd63c592973ca9b66a56b372efe31050dff854dd06289',
    linkText: JSON.stringify({
      data: 'e0233b9616f07ab2cfcf16b67ee65fdbe6818e7ed1019d17e5b33a0adc8681be',
      format: 2,
      id: '00000000-0000-4000-8000-000000000016',
      metadata: '46b353daf3f2656f8bcdf29fd60f1e07fbc1de6e1947002ba1db2dcce3f20197',
      revision: 3,
      stream: 'seals',
      type: 'LogSealed',
    }),
    dataText: JSON.stringify({
      at: '2026-11-22T16:20:00.000Z',
      earlier: 'c60aadb5591fe1bdedbdf866c9dae19f7d5d8d28f33e0308730cc1617bf54674',
      events: 13,
      keyId: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
      number: 3,
      position: 15,
      previous: '4096ab6fc6dcdb7b9e1bd63c592973ca9b66a56b372efe31050dff854dd06289',
      root: '07a627d6abe4fc915a6b9eeccb7989e1c32ce6411be60e4eb1bf07687ce0370e',
      signature: 'Hkr_itOzU0l57xElKv8Icfo03jeWxMogMDkWXW0OW1xnyEXVM-ofFWx-hA_Eg7gwYTPJqvjRm8g36m7yokW7DQ',
      streams: 3,
    }),
    metadataText: JSON.stringify({ actor: { kind: 'service' }, at: '2026-11-22T16:10:00.000Z', format: 2 }),
    link: '5ea05f4f22b1fcd9e000cdb54d55a6147f0505c5c633e79d1a6976fefc806c3e',
  },
  inclusion: [
    '7eaf3a6de90b1764960ad95f124f2a7ece6a066a260fa8153c133ad858a1d1de',
    'b4c90adafdfebb027141b04f92aaf58f90cdc023b3fe16ccbaa9f2a164399cc9',
  ],
  consistency: [
    'd2c002b2dc4bbbab8111b8d7a15d3c9d7f9b1aa9bbf68e9e3d000ff3335aa705',
    'b4c90adafdfebb027141b04f92aaf58f90cdc023b3fe16ccbaa9f2a164399cc9',
  ],
}
