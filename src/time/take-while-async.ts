import { concatMap, type MonoTypeOperatorFunction, map, takeWhile } from 'rxjs'

/** Like takeWhile of RxJS, with a condition that is asked for each value in turn. */
export const takeWhileAsync =
  <Value>(holds: () => Promise<boolean>): MonoTypeOperatorFunction<Value> =>
  source =>
    source.pipe(
      concatMap(async value => ({ value, isTaken: await holds() })),
      takeWhile(({ isTaken }) => isTaken),
      map(({ value }) => value),
    )
