import { Command } from 'commander'
import { checkCommand } from './audit/check.ts'
import { explainCommand } from './audit/explain.ts'
import { exportCommand } from './audit/export.ts'
import { proveCommand } from './audit/prove.ts'
import { reconcileCommand } from './audit/reconcile.ts'
import { replayCommand } from './audit/replay.ts'
import { statementCommand } from './audit/statement.ts'
import { trialBalanceCommand } from './audit/trial-balance.ts'
import { verifyCommand } from './audit/verify.ts'

export const auditCommand = (): Command =>
  new Command('audit')
    .addCommand(verifyCommand())
    .addCommand(trialBalanceCommand())
    .addCommand(exportCommand())
    .addCommand(replayCommand())
    .addCommand(explainCommand())
    .addCommand(statementCommand())
    .addCommand(reconcileCommand())
    .addCommand(proveCommand())
    .addCommand(checkCommand())
