// The place of the `lgm` program.

import * as fs from "node:fs";
import * as path from "node:path";

/** A program that is in none of the folders. */
export interface Missing {
  words: string;
  folders: string[];
}

function isFile(file: string): boolean {
  try {
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The file of a program: a path as it is, a name from the folders of the `PATH`. */
export function find(program: string, searched: string): string | Missing {
  const endings = process.platform === "win32" ? ["", ".exe"] : [""];
  const within = (folder: string) => endings.map((ending) => path.join(folder, program + ending)).find(isFile);
  if (program.includes("/") || program.includes(path.sep)) {
    const folder = path.dirname(program);
    const found = endings.map((ending) => program + ending).find(isFile);
    return found ?? { words: `There is no \`${path.basename(program)}\` in ${folder}.`, folders: [folder] };
  }
  const folders = searched.split(path.delimiter).filter((folder) => folder !== "");
  for (const folder of folders) {
    const found = within(folder);
    if (found) {
      return found;
    }
  }
  const shown = folders.slice(0, 6).join(", ");
  const more = folders.length > 6 ? ` and ${folders.length - 6} more` : "";
  return { words: `There is no \`${program}\` in the folders of the PATH: ${shown}${more}.`, folders };
}
