//! Emitted Python, run in forks of processes that have imported NumPy and SciPy, because the import takes longer than
//! most runs.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::{Mutex, TryLockError};

/// Reads lists of words, one line of JSON each: the files of standard output and standard error, a module, and its arguments. Runs
/// each module in a fork, as `python MODULE ARGUMENTS` would, and prints its exit status.
const SERVER: &str = r"
import json, os, runpy, sys
try:
    import numpy, scipy.integrate, scipy.linalg, scipy.optimize
except ImportError:
    pass
for line in sys.stdin:
    out, err, *words = json.loads(line)
    child = os.fork()
    if child == 0:
        os.dup2(os.open(out, os.O_WRONLY), 1)
        os.dup2(os.open(err, os.O_WRONLY), 2)
        sys.argv = words
        sys.path[0] = os.path.dirname(words[0])
        status = 0
        try:
            runpy.run_path(words[0], run_name='__main__')
        except SystemExit as end:
            status = end.code
            if not isinstance(status, (int, type(None))):
                print(status, file=sys.stderr)
                status = 1
        except BaseException:
            sys.excepthook(*sys.exc_info())
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status or 0)
    print(os.waitpid(child, 0)[1], flush=True)
";

struct Server {
    _process: Child,
    jobs: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Server {
    fn new(python: &str) -> Server {
        let mut process = Command::new(python)
            .args(["-c", SERVER])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Server {
            jobs: process.stdin.take().unwrap(),
            answers: BufReader::new(process.stdout.take().unwrap()),
            _process: process,
        }
    }

    fn run(&mut self, words: &[String]) -> Output {
        let [out, err] = [(); 2].map(|()| tempfile::NamedTempFile::new().unwrap());
        let mut job = [&out, &err].map(|file| file.path().display().to_string()).to_vec();
        job.extend_from_slice(words);
        writeln!(self.jobs, "{}", serde_json::to_string(&job).unwrap()).unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        Output {
            status: ExitStatus::from_raw(answer.trim().parse().expect("the server answers with a status")),
            stdout: fs::read(&out).unwrap(),
            stderr: fs::read(&err).unwrap(),
        }
    }
}

/// Runs a module, whose path is the first word, with the options behind it, in a Python that has NumPy and SciPy.
pub fn run_module(python: &str, words: &[String]) -> Output {
    // The number of threads in `for_each`.
    static SERVERS: [Mutex<Option<Server>>; 2] = [Mutex::new(None), Mutex::new(None)];
    let free = SERVERS.iter().find_map(|server| match server.try_lock() {
        Ok(server) => Some(server),
        Err(TryLockError::Poisoned(server)) => Some(server.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    });
    let mut words = words.to_vec();
    // Programs of other languages take `--rtol 1e-9`; a module takes `rtol=1e-9`.
    while let Some(at) = words.iter().position(|word| word.starts_with("--")) {
        let value = words.remove(at + 1);
        words[at] = format!("{}={value}", words[at].trim_start_matches('-'));
    }
    let mut server = free.unwrap_or_else(|| SERVERS[0].lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    server.get_or_insert_with(|| Server::new(python)).run(&words)
}
