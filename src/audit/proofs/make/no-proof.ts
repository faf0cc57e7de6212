/** The log has nothing to prove. The message says why. */
export class NoProof extends Error {
  override name = 'NoProof'
}
